/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/command/message.h"
#include "base/parse.h"
#include "commands/open.h"
#include "tables/program_table.h"

#define DEFAULT_DELAY  (2 * NS_PER_S)
#define DEFAULT_WINDOW (60 * NS_PER_S)
#define MAX_TABLES     1000000000

static int set_tables(void *to, const char *argument, struct error *err)
{
	(void)err;
	return parse_number(argument, 1, MAX_TABLES, to);
}

static int set_window(void *to, const char *argument, struct error *err)
{
	struct top_options *options = to;

	options->has_window = true;
	return option_set_time(&options->window, argument, err);
}

static int set_tree(void *to, const char *argument, struct error *err)
{
	(void)argument;
	(void)err;
	*(const struct output **)to = output_find("tree");
	return 0;
}

static int add_table(void *to, const char *argument, struct error *err)
{
	struct sampling_options *options = to;

	(void)err;
	return option_append(&options->tables, &options->table_count, argument);
}

static struct option_word sort_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"self", NULL, REPORT_SORT_SELF},
		{"total", NULL, REPORT_SORT_TOTAL},
		{"name", NULL, REPORT_SORT_NAME},
		{0},
	};

	return words[i];
}

#define TOP(member) offsetof(struct top_options, member)

static const struct command_option screen_options[] = {
	{"input", 'i', "FILE",
	 "show a recording instead, which may still be written (- for standard input)",
	 .set = option_set_text, .offset = TOP(input)},
	{"batch", 0, "N", "print N tables instead of showing them on the terminal",
	 .takes = "a number from 1 to 1000000000", .set = set_tables,
	 .offset = TOP(tables)},
	{"delay", 'd', "SECONDS", "time between tables (default: 2)",
	 .takes = "seconds above 0, or a time such as 500ms, 10s or 5m",
	 .set = option_set_time, .offset = TOP(delay)},
	{"window", 0, "SECONDS",
	 "show the samples of the last SECONDS (default: 60; with -i: all)",
	 .takes = "seconds above 0, or a time such as 500ms, 10s or 5m",
	 .set = set_window},
	{"sort", 0, "COLUMN", "sort functions by self, total or name (default: self)",
	 .word = sort_word, .offset = TOP(view.sort)},
	{"per-vcpu", 0, NULL, "add a column for each vCPU", .set = option_set_true,
	 .offset = TOP(view.per_vcpu)},
	{"tree", 0, NULL, "show a call tree", .set = set_tree, .offset = TOP(format)},
	{0},
};

static const struct command_option sampling_options[] = {
	{"freq", 'F', "HZ", "rounds of samples per second, 1 to 10000 (default: 99)",
	 .set = option_set_text, .offset = offsetof(struct sampling_options, frequency)},
	{"all", 'a', NULL, "sample all guests", .set = option_set_true,
	 .offset = offsetof(struct sampling_options, all)},
	{"gdb", 0, "ADDRESS", GDB_HELP, .set = open_set_gdb,
	 .offset = offsetof(struct sampling_options, gdb)},
	{"follow", 0, NULL,
	 "keep sampling a guest that comes back after a reboot, and wait for one that "
	 "does not exist yet; with -a, add new guests",
	 .set = option_set_true, .offset = offsetof(struct sampling_options, follow)},
	{"table", 0, "FILE[,domain=NAME]",
	 "unwind by a table made by uniprof table, for code without frame pointers; can "
	 "be repeated",
	 .set = add_table},
	{"no-find", 0, NULL, NO_FIND_HELP, .set = option_set_true,
	 .offset = offsetof(struct sampling_options, no_find)},
	{"call-graph", 0, "WAY", "how to find callers, as in uniprof record",
	 .set = option_set_text, .offset = offsetof(struct sampling_options, call_graph)},
	{"max-overhead", 0, "PERCENT",
	 "limit the share of time that the guest is paused (default: 5)",
	 .set = option_set_text,
	 .offset = offsetof(struct sampling_options, max_overhead)},
	{"waits", 0, NULL,
	 "also record what the threads of Linux guests wait for, as in uniprof record; "
	 "the key b, or --weight wait, shows it",
	 .set = option_set_true, .offset = offsetof(struct sampling_options, waits)},
	{"no-stop", 0, "WHEN",
	 "sample guests of KVM on AMD without stopping them, as in uniprof record",
	 .set = option_set_text, .offset = offsetof(struct sampling_options, no_stop)},
	{"event", 'e', "EVENT",
	 "sample by an event that the CPU counts, such as cycles:G, as in uniprof record",
	 .set = option_set_text, .offset = offsetof(struct sampling_options, event)},
	{"jitter", 0, NULL, "randomize sampling times", .set = option_set_true,
	 .offset = offsetof(struct sampling_options, jitter)},
	{"unpause", 0, NULL, "first unpause a guest that a killed recorder left paused",
	 .set = option_set_true, .offset = offsetof(struct sampling_options, unpause)},
	{"force", 0, NULL, FORCE_HELP, .set = option_set_true,
	 .offset = offsetof(struct sampling_options, force)},
	{0},
};

const struct option_group top_option_groups[] = {
	{"Options", screen_options, 0},
	{"Sampling", sampling_options, TOP(sampling)},
	{"Names", profile_file_options, TOP(profile)},
	{NULL, profile_symbol_options, TOP(profile)},
	{"Samples", profile_sample_options, TOP(profile)},
	{"Waits, with --weight wait", profile_wait_options, TOP(profile)},
	{0},
};

static bool has_sampling(const struct sampling_options *options)
{
	return options->frequency || options->max_overhead || options->call_graph ||
	       options->table_count || options->all || options->gdb || options->follow ||
	       options->no_stop || options->event || options->jitter ||
	       options->unpause || options->force || options->waits;
}

static int top_options_check(const struct top_options *options)
{
	const struct window *time = &options->profile.rules.window;

	if (options->profile.rules.weight == MEASURE_WAIT && !options->input &&
	    !options->sampling.waits)
		return usage_error("top", "--weight wait needs --waits, or -i FILE");
	if (profile_options_check(&options->profile) != COMMAND_GO_ON)
		return EXIT_USAGE;
	if (options->input && options->domains[0])
		return usage_error("top", "unexpected argument '%s' with -i",
				   options->domains[0]);
	if (options->input && has_sampling(&options->sampling))
		return usage_error("top", "options for sampling have no effect with -i");
	if (options->sampling.gdb && options->domains[0])
		return usage_error("top", "unexpected argument '%s' with --gdb",
				   options->domains[0]);
	if (!options->input && !options->domains[0] && !options->sampling.all &&
	    !options->sampling.gdb)
		return usage_error("top", "no domain given; use -a for all guests, or "
					  "-i FILE for a recording");
	if (options->window && (time->from.given || time->to.given))
		return usage_error("top", "--time needs a whole recording: use it with "
					  "-i and without --window");
	if (!options->tables && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return usage_error("top", "not on a terminal; use --batch N to print "
					  "tables");
	return COMMAND_GO_ON;
}

int top_options_parse(struct top_options *options, const struct command *command,
		      int argc, char **argv)
{
	int status;

	*options = (struct top_options){
		.delay = DEFAULT_DELAY,
		.format = output_find("histogram"),
		.view.lists_unnamed = true,
	};
	if (profile_options_init(&options->profile, command->name, argc) < 0)
		return EXIT_FAILED;
	status = command_parse(command, argc, argv, options, &options->domains);
	if (status != COMMAND_GO_ON)
		return status;
	if (!options->input && !options->has_window)
		options->window = DEFAULT_WINDOW;
	return top_options_check(options);
}

void top_options_free(struct top_options *options)
{
	profile_options_free(&options->profile);
	free(options->sampling.tables);
}

/* Whether the domains' symbol files may also be used to unwind. */
static bool unwinds_by_symbols(const struct top_options *options)
{
	const struct sampling_options *sampling = &options->sampling;
	const char *way = sampling->call_graph;

	return !options->profile.rules.symfs && !sampling->table_count &&
	       (!way || strcmp(way, "auto") == 0 || strcmp(way, "table") == 0);
}

/* Passes on the symbol files that record can make tables of; others only have names. */
static void add_symbols(const struct top_options *options, struct words *words)
{
	const struct profile_rules *rules = &options->profile.rules;
	struct error why;

	if (!unwinds_by_symbols(options))
		return;
	for (size_t i = 0; i < rules->symbol_count; i++)
		if (program_table_is_possible(rules->symbols[i], &why))
			words_add_option(words, "--symbols", rules->symbols[i]);
}

void top_options_find(const struct top_options *options, struct found_files *found)
{
	const struct sampling_options *sampling = &options->sampling;
	struct find_wish wish = {
		.domain = options->domains,
		.all = sampling->all,
		.by_id = sampling->all || sampling->follow,
	};

	*found = (struct found_files){0};
	if (options->input || sampling->no_find || sampling->table_count ||
	    sampling->gdb || sampling->call_graph || options->profile.rules.symbol_count)
		return;
	while (wish.domain[wish.domains])
		wish.domains++;
	find_files(found, &wish);
}

void top_options_record(const struct top_options *options, struct words *words)
{
	const struct sampling_options *sampling = &options->sampling;

	words_add(words, "record");
	words_add_option(words, "-o", "-");
	words_add_option(words, "--freq", sampling->frequency);
	words_add_option(words, "--max-overhead", sampling->max_overhead);
	words_add_option(words, "--call-graph", sampling->call_graph);
	words_add_option(words, "--no-stop", sampling->no_stop);
	words_add_option(words, "--event", sampling->event);
	words_add_option(words, "--gdb", sampling->gdb);
	for (size_t i = 0; i < sampling->table_count; i++)
		words_add_option(words, "--table", sampling->tables[i]);
	add_symbols(options, words);
	words_add_flag(words, "--all", sampling->all);
	words_add_flag(words, "--follow", sampling->follow);
	words_add_flag(words, "--no-find", sampling->no_find);
	words_add_flag(words, "--jitter", sampling->jitter);
	words_add_flag(words, "--waits", sampling->waits);
	words_add_flag(words, "--unpause", sampling->unpause);
	words_add_flag(words, "--force", sampling->force);
	words_add(words, "--");
	for (size_t i = 0; options->domains[i]; i++)
		words_add(words, options->domains[i]);
}
