/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/record_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "base/parse.h"
#include "commands/open.h"

#define DEFAULT_FREQUENCY 99
#define MAX_FREQUENCY	  10000
#define DEFAULT_OVERHEAD  0.05
#define DEFAULT_WAITS	  10
#define MAX_WAITS	  1000

static int set_frequency(void *to, const char *argument, struct error *err)
{
	(void)err;
	return parse_number(argument, 1, MAX_FREQUENCY, to);
}

/* Sets the rate of --waits, which may be left out. */
static int set_waits(void *to, const char *argument, struct error *err)
{
	uint64_t *frequency = to;

	(void)err;
	*frequency = DEFAULT_WAITS;
	return argument ? parse_number(argument, 1, MAX_WAITS, frequency) : 0;
}

static int set_percent(void *to, const char *argument, struct error *err)
{
	(void)err;
	return parse_percent(argument, to);
}

/* Sets a time or a size: a number and its unit, as in perf. */
static int set_rotation(void *to, const char *argument, struct error *err)
{
	static const char times[] = "smhd", sizes[] = "BKMG";
	static const uint64_t seconds[] = {1, 60, 3600, 24 * 3600};
	struct rotation *rotation = to;
	size_t length = strlen(argument);
	char unit = length ? argument[length - 1] : 0, copy[16];
	const char *time = unit ? strchr(times, unit) : NULL;
	const char *size = unit ? strchr(sizes, unit) : NULL;
	uint64_t number;

	(void)err;
	if ((!time && !size) || length > sizeof(copy))
		return -1;
	snprintf(copy, sizeof(copy), "%.*s", (int)length - 1, argument);
	if (parse_number(copy, 1, 1000000, &number) < 0)
		return -1;
	rotation->time = time ? number * seconds[time - times] * NS_PER_S : 0;
	rotation->size = size ? number << 10 * (size - sizes) : 0;
	return 0;
}

static int set_keep(void *to, const char *argument, struct error *err)
{
	(void)err;
	return parse_number(argument, 1, UINT32_MAX, to);
}

static int add_elf(void *to, const char *argument, struct error *err)
{
	struct unwinding_options *options = to;

	(void)err;
	return option_append(&options->elf, &options->elfs, argument);
}

static int add_table(void *to, const char *argument, struct error *err)
{
	struct unwinding_options *options = to;

	(void)err;
	return option_append(&options->table, &options->tables, argument);
}

/* The words that --call-graph accepts without a file or a size. */
static struct option_word call_graph_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"auto", NULL, CALL_GRAPH_AUTO},
		{"fp", NULL, CALL_GRAPH_FP},
		{"table", NULL, CALL_GRAPH_TABLE},
		{"stack", NULL, CALL_GRAPH_STACK},
		{0},
	};

	return words[i];
}

/* Captures stacks. @bytes: how much; NULL: the usual number. */
static int set_stack(struct unwinding_options *options, const char *bytes)
{
	uint64_t value = STACK_BYTES;

	if (bytes && parse_number(bytes, STACK_BYTES_MIN, STACK_BYTES_MAX, &value) < 0)
		return -1;
	options->call_graph = CALL_GRAPH_STACK;
	options->stack_bytes = (unsigned int)value;
	return 0;
}

static int set_call_graph(void *to, const char *argument, struct error *err)
{
	static const char table[] = "table:", stack[] = "stack,";
	struct unwinding_options *options = to;

	options->stack_bytes = 0; /* the last --call-graph counts */
	if (strcmp(argument, "stack") == 0)
		return set_stack(options, NULL);
	if (strncmp(argument, stack, strlen(stack)) == 0)
		return set_stack(options, argument + strlen(stack));
	for (unsigned int i = 0; call_graph_word(i).word; i++) {
		if (strcmp(argument, call_graph_word(i).word) != 0)
			continue;
		options->call_graph = (enum call_graph)call_graph_word(i).value;
		return 0;
	}
	if (strncmp(argument, table, strlen(table)) != 0 || !argument[strlen(table)])
		return -1;
	options->call_graph = CALL_GRAPH_TABLE;
	return add_table(to, argument + strlen(table), err);
}

static int set_event(void *to, const char *argument, struct error *err)
{
	return parse_event(argument, to, err);
}

static struct option_word no_stop_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"auto", NULL, NO_STOP_AUTO},
		{"never", NULL, NO_STOP_NEVER},
		{"only", NULL, NO_STOP_ONLY},
		{0},
	};

	return words[i];
}

_Static_assert(DEFAULT_FREQUENCY == 99 && MAX_FREQUENCY == 10000, "the help says so");

static const struct command_option known[] = {
	{"freq", 'F', "HZ", "rounds of samples per second, 1 to 10000 (default: 99)",
	 .takes = "a rate from 1 to 10000 Hz", .set = set_frequency,
	 .offset = offsetof(struct record_options, frequency)},
	{"time", 'T', "SECONDS", "stop after this time, such as 10, 2.5 or 5m",
	 .takes = "seconds above 0, or a time such as 500ms, 10s or 5m",
	 .set = option_set_time, .offset = offsetof(struct record_options, time_limit)},
	{"duration", 'd', "SECONDS", NULL,
	 .takes = "seconds above 0, or a time such as 500ms, 10s or 5m",
	 .set = option_set_time, .offset = offsetof(struct record_options, time_limit)},
	{"pid", 'p', "PID", NULL, .set = option_set_text,
	 .offset = offsetof(struct record_options, pid)},
	{"call-chains", 'g', NULL, NULL, .set = option_set_true,
	 .offset = offsetof(struct record_options, wants_chains)},
	{"output", 'o', "FILE",
	 "output file (default: uniprof.data; - for standard output); an existing "
	 "recording is kept as FILE.old",
	 .set = option_set_text, .offset = offsetof(struct record_options, output)},
	{"rotate", 0, "TIME|SIZE",
	 "write FILE.1, FILE.2 and so on, each a recording of its own: a new one after "
	 "this "
	 "time or size, such as 60s or 100M",
	 .takes = "a time or a size, such as 60s, 10m, 1h, 500K or 100M",
	 .set = set_rotation, .offset = offsetof(struct record_options, rotation)},
	{"keep", 0, "N", "with --rotate, keep only the last N of these files",
	 .takes = "a number above 0", .set = set_keep,
	 .offset = offsetof(struct record_options, rotation.keep)},
	{"all", 'a', NULL, "sample all guests", .set = option_set_true,
	 .offset = offsetof(struct record_options, all)},
	{"gdb", 0, "ADDRESS", GDB_HELP, .set = open_set_gdb,
	 .offset = offsetof(struct record_options, gdb)},
	{"follow", 0, NULL,
	 "keep sampling a guest that comes back after a reboot, and wait for one that "
	 "does not exist yet; with -a, add new guests",
	 .set = option_set_true, .offset = offsetof(struct record_options, follow)},
	{"vcpu", 0, "LIST", "sample only these vCPUs, such as 0,2-3",
	 .set = option_set_text, .offset = offsetof(struct record_options, vcpus)},
	{"symbols", 's', "ELF[@OFFSET][,domain=NAME]",
	 "ELF file of a guest, or vmlinuz, to unwind code without frame pointers, by a "
	 "table that is made of it first, and to store names in the recording at its "
	 "end; OFFSET is added to its addresses; can be repeated",
	 .set = add_elf, .offset = offsetof(struct record_options, unwinding)},
	{"srcline", 0, NULL,
	 "with --symbols, store source lines and inlined functions with the names (needs "
	 "DWARF)",
	 .set = option_set_true, .offset = offsetof(struct record_options, lines)},
	{"inline", 0, NULL, "the same as --srcline", .set = option_set_true,
	 .offset = offsetof(struct record_options, lines)},
	{"table", 0, "FILE[,domain=NAME]",
	 "instead of --symbols, unwind by a table made by uniprof table, on any machine",
	 .set = add_table, .offset = offsetof(struct record_options, unwinding)},
	{"no-find", 0, NULL, NO_FIND_HELP, .set = option_set_true,
	 .offset = offsetof(struct record_options, unwinding.no_find)},
	{"call-graph", 0, "WAY",
	 "how to find callers: auto (default: by a table that fits the guest, else by "
	 "frame pointers), fp, table or table:FILE, or stack[,BYTES]: by the report, "
	 "from "
	 "what is captured of the stacks",
	 .word = call_graph_word,
	 .takes = "auto, fp, table[:FILE] or stack[,BYTES], of 256 to 65536 bytes",
	 .set = set_call_graph, .offset = offsetof(struct record_options, unwinding)},
	{"max-overhead", 0, "PERCENT",
	 "limit the share of time that the guest is paused, by lowering the rate "
	 "(default: 5)",
	 .takes = "0.01 to 100 percent", .set = set_percent,
	 .offset = offsetof(struct record_options, max_overhead)},
	{"no-stop", 0, "WHEN",
	 "sample guests of KVM on AMD without stopping them: auto (where their call "
	 "chains are whole that way), never (default) or only",
	 .word = no_stop_word, .offset = offsetof(struct record_options, no_stop)},
	{"event", 'e', "EVENT",
	 "instead of at events of its CPU time, sample a guest of KVM on AMD at events "
	 "that the CPU counts, such as cycles:G or cache-misses:G (:G, while the guest's "
	 "code runs), without stopping it",
	 .set = set_event, .offset = offsetof(struct record_options, event)},
	{"waits", 0, "HZ",
	 "also record what threads of Linux, Unikraft and Mini-OS wait for, looking at "
	 "all "
	 "of them this often, without pausing the guest (default: 10)",
	 .takes = "a rate from 1 to 1000 Hz", .set = set_waits, .is_optional = true,
	 .offset = offsetof(struct record_options, waits)},
	{"waits-max-cpu", 0, "PERCENT",
	 "limit the share of a host CPU that --waits takes (default: 5)",
	 .takes = "0.01 to 100 percent", .set = set_percent,
	 .offset = offsetof(struct record_options, waits_max_cpu)},
	{"jitter", 0, NULL,
	 "randomize sampling times, to avoid sampling in step with the guest",
	 .set = option_set_true, .offset = offsetof(struct record_options, jitter)},
	{"unpause", 0, NULL,
	 "first unpause a guest that was left paused when a recorder and its guard were "
	 "killed; ends only that one pause",
	 .set = option_set_true, .offset = offsetof(struct record_options, unpause)},
	{"force", 0, NULL, FORCE_HELP, .set = option_set_true,
	 .offset = offsetof(struct record_options, force)},
	{"quiet", 'q', NULL, "print only errors", .set = option_set_true,
	 .offset = offsetof(struct record_options, quiet)},
	{"verbose", 'v', NULL, "show details of the guests and the hypervisor",
	 .set = option_set_true, .offset = offsetof(struct record_options, verbose)},
	{0},
};

const struct option_group record_option_groups[] = {
	{"Options", known, 0},
	{0},
};

/* Checks that the options for unwinding go together: 0, or -1 with @err set. */
static int check_unwinding(const struct unwinding_options *options, struct error *err)
{
	bool has_files = options->elfs || options->tables;

	if ((options->call_graph == CALL_GRAPH_FP || options->stack_bytes) && has_files)
		return error_set(err, "--call-graph %s uses no files: leave out %s",
				 options->stack_bytes ? "stack" : "fp",
				 options->elfs ? "--symbols" : "--table");
	if (options->call_graph == CALL_GRAPH_TABLE && !has_files)
		return error_set(err, "--call-graph table needs --symbols or --table");
	return 0;
}

static void ignore_notice(const char *line)
{
	(void)line;
}

/* Prints what happens while recording. */
static void print_notice(const char *line)
{
	message("record", "%s", line);
}

/* Sets the guests from the arguments, or from --pid or --gdb: 0, or -1 with @err set. */
static int set_guests(struct record_options *options, char **domains, struct error *err)
{
	options->domain = domains;
	while (*domains++)
		options->domains++;
	if (options->pid && (options->domains || options->all || options->gdb))
		return error_set(err, "--pid is a single VM's: no domain, -a or --gdb");
	if (options->gdb && (options->domains || options->all || options->follow))
		return error_set(err,
				 "--gdb has a single guest: no domain, -a or --follow");
	if (options->pid || options->gdb) {
		options->domain = (char **)(options->pid ? &options->pid : &options->gdb);
		options->domains = 1;
	}
	if (!options->domains && !options->all)
		return error_set(err, "no domain given; use -a for all guests");
	if (options->domains && options->all)
		return error_set(err, "unexpected argument '%s' with -a",
				 options->domain[0]);
	return 0;
}

/* Checks that the options for the file go together: 0, or -1 with @err set. */
static int check_output(const struct record_options *options, struct error *err)
{
	bool rotates = options->rotation.time || options->rotation.size;
	bool is_stdout = strcmp(options->output, "-") == 0;

	if (options->lines && !options->unwinding.elfs)
		return error_set(err, "--srcline needs --symbols");
	if (options->rotation.keep && !rotates)
		return error_set(err, "--keep needs --rotate");
	if (rotates && is_stdout)
		return error_set(err, "--rotate needs files, not standard output");
	if (is_stdout && isatty(STDOUT_FILENO))
		return error_set(err, "refusing to write a recording to a terminal; use "
				      "-o FILE or a pipe");
	return 0;
}

int record_options_read(const struct command *command, int argc, char **argv,
			struct record_options *options)
{
	struct error err;
	char **domains;
	int status;

	*options = (struct record_options){
		.frequency = DEFAULT_FREQUENCY,
		.max_overhead = DEFAULT_OVERHEAD,
		.waits_max_cpu = DEFAULT_OVERHEAD,
		.output = "uniprof.data",
		.notify = print_notice,
	};
	status = command_parse(command, argc, argv, options, &domains);
	if (status != COMMAND_GO_ON)
		return status;
	if (options->quiet)
		options->notify = ignore_notice;
	if (options->wants_chains)
		options->notify("note: -g is not needed: call chains are always "
				"recorded");
	if (set_guests(options, domains, &err) < 0)
		return usage_error(command->name, "%s", err.text);
	if (options->gdb && options->waits)
		return usage_error(command->name, "--waits reads a guest's memory while "
						  "it runs, which --gdb can't");
	if (options->event.name[0] && options->gdb)
		return usage_error(command->name, "-e needs KVM on AMD, not --gdb");
	if (options->event.name[0])
		options->no_stop = NO_STOP_ONLY;
	if (check_unwinding(&options->unwinding, &err) < 0 ||
	    check_output(options, &err) < 0)
		return usage_error(command->name, "%s", err.text);
	return COMMAND_GO_ON;
}

void record_options_free(struct record_options *options)
{
	free(options->unwinding.elf);
	free(options->unwinding.table);
	options->unwinding = (struct unwinding_options){0};
}
