/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/profile_options.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/command/message.h"
#include "symbols/program.h"

int profile_options_init(struct profile_options *options, const char *command, int argc)
{
	struct profile_rules *rules = &options->rules;

	*options = (struct profile_options){
		.command = command,
		.rules =
			{
				.states = MEASURE_ALL_STATES,
				.debug_directory = DEBUG_DIRECTORY,
				.finds_files = true,
				.demangle = DEMANGLE_FULL,
			},
	};
	/* At most one of each per word. */
	rules->inputs = calloc((size_t)argc + 1, sizeof(*rules->inputs));
	rules->symbols = calloc((size_t)argc + 1, sizeof(*rules->symbols));
	if (rules->inputs && rules->symbols)
		return 0;
	fprintf(stderr, "uniprof %s: out of memory\n", command);
	return -1;
}

void profile_options_free(struct profile_options *options)
{
	struct profile_rules *rules = &options->rules;

	if (rules->filter.parent)
		regfree(&options->parent);
	if (rules->filter.symbol)
		regfree(&options->symbol);
	free(rules->inputs);
	free(rules->symbols);
}

int profile_options_input(struct profile_options *options, const char *path,
			  struct error *err)
{
	struct profile_rules *rules = &options->rules;

	for (size_t i = 0; i < rules->input_count && strcmp(path, "-") == 0; i++)
		if (strcmp(rules->inputs[i], "-") == 0)
			return error_set(err, "standard input can be given only once");
	rules->inputs[rules->input_count++] = path;
	return 0;
}

static int add_symbols(void *to, const char *argument, struct error *err)
{
	struct profile_rules *rules = to;

	(void)err;
	rules->symbols[rules->symbol_count++] = argument;
	return 0;
}

static int set_vcpus(void *to, const char *argument, struct error *err)
{
	struct profile_options *options = to;

	(void)err;
	options->rules.vcpus = options->vcpus;
	return parse_list(argument, options->vcpus, RECORDING_MAX_VCPU + 1);
}

static int set_window(void *to, const char *argument, struct error *err)
{
	(void)err;
	return window_parse(argument, to);
}

/* Sets one of the rules to a POSIX extended regular expression. */
static int set_regex(regex_t *regex, const regex_t **rule, const char *text,
		     struct error *err)
{
	regex_t compiled;
	char why[128];
	int code = regcomp(&compiled, text, REG_EXTENDED | REG_NOSUB);

	if (code == 0) {
		if (*rule) /* given twice: the last one is used */
			regfree(regex);
		*regex = compiled;
		*rule = regex;
		return 0;
	}
	if (code == REG_ESPACE)
		return COMMAND_NO_MEMORY;
	regerror(code, &compiled, why, sizeof(why));
	return error_set(err, "invalid regular expression: %s", why);
}

static int set_parent(void *to, const char *argument, struct error *err)
{
	struct profile_options *options = to;

	return set_regex(&options->parent, &options->rules.filter.parent, argument, err);
}

static int set_symbol(void *to, const char *argument, struct error *err)
{
	struct profile_options *options = to;

	return set_regex(&options->symbol, &options->rules.filter.symbol, argument, err);
}

int profile_options_filter(struct profile_options *options, const char *regex,
			   struct error *err)
{
	const regex_t **rule = &options->rules.filter.symbol;

	error_set(err, "out of memory"); /* unless there is another reason */
	if (*regex)
		return set_regex(&options->symbol, rule, regex, err) ? -1 : 0;
	if (*rule)
		regfree(&options->symbol);
	*rule = NULL;
	return 0;
}

static int set_depth(void *to, const char *argument, struct error *err)
{
	uint64_t depth;

	(void)err;
	if (parse_number(argument, 1, RECORDING_MAX_DEPTH, &depth) < 0)
		return -1;
	*(uint32_t *)to = (uint32_t)depth;
	return 0;
}

static struct option_word weight_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"samples", NULL, MEASURE_SAMPLES},
		{"cpu-time", NULL, MEASURE_CPU_TIME},
		{"wall", NULL, MEASURE_WALL},
		{"wait", NULL, MEASURE_WAIT},
		{0},
	};

	return words[i];
}

static struct option_word state_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"running", NULL, MEASURE_RUNNING},
		{"runnable", NULL, MEASURE_RUNNABLE},
		{"busy", NULL, MEASURE_BUSY},
		{"blocked", NULL, MEASURE_BLOCKED},
		{"exit", NULL, MEASURE_EXIT},
		{"all", NULL, MEASURE_ALL_STATES},
		{0},
	};

	return words[i];
}

_Static_assert(RECORDING_MAX_VCPU == 8191 && RECORDING_MAX_DEPTH == 1024,
	       "stated in the options below");

#define RULE(member) offsetof(struct profile_options, rules.member)

const struct command_option profile_file_options[] = {
	{"symbols", 's', "FILE[@OFFSET][,domain=DOMAIN]",
	 "symbol file for the guest: ELF, nm output, System.map, /proc/kallsyms or perf "
	 "map; OFFSET is added to its addresses; with DOMAIN, it is used for that domain "
	 "only; can be repeated",
	 .set = add_symbols, .offset = offsetof(struct profile_options, rules)},
	{"symfs", 0, "DIR",
	 "look for symbol and debug files, and for files of a Linux guest's processes, "
	 "below this directory",
	 .set = option_set_text, .offset = RULE(symfs)},
	{"debug-dir", 0, "DIR",
	 "directory of separate debug files (default: /usr/lib/debug)",
	 .set = option_set_text, .offset = RULE(debug_directory)},
	{0},
};

static int set_debuginfod(void *to, const char *argument, struct error *err)
{
	struct profile_rules *rules = to;
	const char *urls = getenv("DEBUGINFOD_URLS");

	(void)argument;
	rules->debuginfod = urls && *urls;
	return rules->debuginfod ? 0
				 : error_set(err, "name the servers in $DEBUGINFOD_URLS");
}

const struct command_option profile_server_options[] = {
	{"debuginfod", 0, NULL,
	 "ask the servers in $DEBUGINFOD_URLS for debug files that are not installed",
	 .set = set_debuginfod, .offset = offsetof(struct profile_options, rules)},
	{0},
};

const struct command_option profile_symbol_options[] = {
	{"demangle", 0, NULL, NULL, .value = DEMANGLE_FULL, .offset = RULE(demangle)},
	{"no-demangle", 0, NULL, "don't demangle C++, Rust and OCaml names",
	 .value = DEMANGLE_NOT, .offset = RULE(demangle)},
	{"srcline", 0, NULL, "add source file and line to functions (needs DWARF)",
	 .value = SOURCE_LINES_IN_NAMES, .offset = RULE(lines)},
	{"inline", 0, NULL, "show inlined functions as callees (needs DWARF)",
	 .set = option_set_true, .offset = RULE(inlined)},
	{0},
};

const struct command_option profile_wait_options[] = {
	{"min-wait", 0, "TIME", "only waits that are at least so long",
	 .takes = "seconds, or a time with a unit, e.g. 1ms", .set = option_set_time,
	 .offset = RULE(min_wait)},
	{"wait-filter", 0, NULL,
	 "with --weight wait, leave out threads that wait for work, such as a kernel's "
	 "idle workers",
	 .set = option_set_true, .offset = RULE(no_idle)},
	{0},
};

const struct command_option profile_sample_options[] = {
	{"weight", 0, "WHAT",
	 "weight of a sample: 1 (samples), the CPU time its vCPU used before it "
	 "(cpu-time), or the time since its vCPU's last sample (wall); or not samples, "
	 "but what threads waited for, by time (wait), of a recording made with --waits "
	 "(default: samples)",
	 .word = weight_word, .offset = RULE(weight)},
	{"state", 0, "STATE",
	 "only samples of vCPUs that were running on a physical CPU, runnable (waiting "
	 "for one), busy (either), blocked, or not in the guest's code (exit, KVM) "
	 "(default: all)",
	 .word = state_word, .offset = RULE(states)},
	{"domain", 0, "LIST", "only these domains: names or ids, separated by commas",
	 .set = option_set_text, .offset = RULE(domains)},
	{"per-process", 0, NULL,
	 "tell the processes of a domain apart: each is shown as a domain of its own, "
	 "named DOMAIN:COMM[PID] or, if that is not known, DOMAIN:SPACE; symbol files of "
	 "one are given with -s FILE,comm=COMM or -s FILE,space=SPACE",
	 .set = option_set_true, .offset = RULE(per_process)},
	{"per-thread", 0, NULL,
	 "tell the threads of a domain's processes apart, too, named "
	 "DOMAIN:COMM[PID]:THREAD[TID]",
	 .set = option_set_true, .offset = RULE(per_thread)},
	{"kernel-only", 0, NULL,
	 "only samples at upper addresses, where kernels such as Linux are",
	 .value = MEASURE_KERNEL, .offset = RULE(part)},
	{"user-only", 0, NULL, "only samples at lower addresses", .value = MEASURE_USER,
	 .offset = RULE(part)},
	{"vcpu", 0, "LIST", "only these vCPUs, e.g. 0,2-5",
	 .takes = "numbers and ranges up to 8191, e.g. 0,2-5", .set = set_vcpus},
	{"time", 0, "FROM,TO",
	 "only this part of the recording: seconds since its start, percent (10%,20%), "
	 "or "
	 "the local time (14:03:20,14:03:40, or with a date: 2026-11-22T14:03:20); "
	 "either "
	 "end can be omitted",
	 .takes = "FROM,TO in seconds, percent or local time, e.g. 1.5,3 or 10%,20% or "
		  "14:03:20,14:03:40",
	 .set = set_window, .offset = RULE(window)},
	{"parent", 0, "REGEX", "only samples with a caller that matches",
	 .set = set_parent},
	{"symbol-filter", 0, "REGEX",
	 "only samples with a function that matches; histograms show only those "
	 "functions",
	 .set = set_symbol},
	{"exits", 0, NULL,
	 "show why a vCPU was not in the guest's code, but in the VMM or halted, as the "
	 "innermost function: [exit: io out 0x3f8] (KVM)",
	 .set = option_set_true, .offset = RULE(exits)},
	{"no-interrupts", 0, NULL,
	 "leave out handlers of interrupts and exceptions: their time counts for the "
	 "code that they interrupted",
	 .set = option_set_true, .offset = RULE(filter.no_interrupts)},
	{"max-depth", 0, "N", "only the N innermost frames of each call chain",
	 .takes = "a number from 1 to 1024", .set = set_depth,
	 .offset = RULE(filter.max_depth)},
	{0},
};

int profile_options_check(const struct profile_options *options)
{
	const struct profile_rules *rules = &options->rules;

	if (rules->weight != MEASURE_WAIT && (rules->min_wait || rules->no_idle))
		return usage_error(options->command,
				   "--min-wait and --wait-filter need --weight wait");
	if (rules->weight == MEASURE_WAIT &&
	    (rules->vcpus || rules->exits || rules->states != MEASURE_ALL_STATES))
		return usage_error(options->command,
				   "--vcpu, --state and --exits are for samples, not for "
				   "--weight wait");
	return COMMAND_GO_ON;
}
