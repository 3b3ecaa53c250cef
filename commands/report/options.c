/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/command/message.h"
#include "base/parse.h"

static int add_input(void *to, const char *argument, struct error *err)
{
	return profile_options_input(to, argument, err);
}

static struct option_word format_word(unsigned int i)
{
	const struct output *format = output_list()[i];

	return format ? (struct option_word){format->name, format->about, 0}
		      : (struct option_word){0};
}

static int set_format(void *to, const char *argument, struct error *err)
{
	(void)err;
	*(const struct output **)to = output_find(argument);
	return 0;
}

static int set_tree(void *to, const char *argument, struct error *err)
{
	(void)argument;
	return set_format(to, "tree", err);
}

int report_parse_limit(const char *text, double *percent)
{
	size_t length = strlen(text);
	uint64_t billionths;
	char copy[32];

	if (length && text[length - 1] == '%')
		length--;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	if (length >= sizeof(copy) || parse_billionths(copy, 101, &billionths) < 0 ||
	    billionths > 100000000000)
		return -1;
	*percent = (double)billionths / 1e9;
	return 0;
}

static int set_limit(void *to, const char *argument, struct error *err)
{
	struct report_view *view = to;

	(void)err;
	view->has_limit = true;
	return report_parse_limit(argument, &view->percent_limit);
}

static int set_false(void *to, const char *argument, struct error *err)
{
	(void)argument;
	(void)err;
	*(bool *)to = false;
	return 0;
}

/* perf's --stdio, which asks for what is the case anyway. */
static int ignore_option(void *to, const char *argument, struct error *err)
{
	(void)to;
	(void)argument;
	(void)err;
	return 0;
}

/* perf's -g. */
static int ignore_chains(void *to, const char *argument, struct error *err)
{
	message("report", "note: -g is not needed: --tree and other formats show call "
			  "chains");
	return ignore_option(to, argument, err);
}

static int set_most_rows(void *to, const char *argument, struct error *err)
{
	(void)err;
	return parse_number(argument, 1, UINT32_MAX, to);
}

/* What --sort accepts, each separated by commas: orders, and names that rows have. */
enum sort_word {
	SORT_SELF,
	SORT_TOTAL,
	SORT_NAME,
	SORT_FUNCTION,
	SORT_FILE,
	SORT_DOMAIN,
	SORT_PROCESS,
	SORT_THREAD,
	SORT_EXIT,
};

static struct option_word sort_word(unsigned int i)
{
	static const struct option_word words[] = {
		{"self", "order by self (default)", SORT_SELF},
		{"total", "order by total", SORT_TOTAL},
		{"name", "order by name", SORT_NAME},
		{"sym", "rows are functions (default)", SORT_FUNCTION},
		{"dso", "rows are files or, with sym, functions beside their files",
		 SORT_FILE},
		{"domain", "rows are domains or, with dso or sym, parts of them",
		 SORT_DOMAIN},
		{"comm", "the same as domain, with --per-process", SORT_PROCESS},
		{"thread", "the same as domain, with --per-thread", SORT_THREAD},
		{"exit",
		 "rows are reasons why guests' code was left (KVM), as with "
		 "--exits, and hypercalls (Xen)",
		 SORT_EXIT},
		{0},
	};

	return words[i];
}

/* Returns the word that the @length bytes at @text are; -1 if there is none. */
static int find_sort_word(const char *text, size_t length)
{
	for (unsigned int i = 0; sort_word(i).word; i++)
		if (strlen(sort_word(i).word) == length &&
		    strncmp(sort_word(i).word, text, length) == 0)
			return sort_word(i).value;
	return -1;
}

static int set_sort(void *to, const char *argument, struct error *err)
{
	const unsigned int domains = 1u << SORT_DOMAIN | 1u << SORT_PROCESS |
				     1u << SORT_THREAD;
	struct report_view *view = to;
	unsigned int words = 0;

	(void)err;
	for (;; argument++) {
		size_t length = strcspn(argument, ",");
		int word = find_sort_word(argument, length);

		if (word < 0)
			return -1;
		words |= 1u << word;
		argument += length;
		if (!*argument)
			break;
	}
	view->sort = words & 1u << SORT_SELF	? REPORT_SORT_SELF
		     : words & 1u << SORT_TOTAL ? REPORT_SORT_TOTAL
		     : words & 1u << SORT_NAME	? REPORT_SORT_NAME
						: REPORT_SORT_SELF;
	view->rows = words & (1u << SORT_FUNCTION | 1u << SORT_EXIT)
			     ? REPORT_ROWS_FUNCTIONS
		     : words & 1u << SORT_FILE ? REPORT_ROWS_FILES
		     : words & domains	       ? REPORT_ROWS_DOMAINS
					       : REPORT_ROWS_FUNCTIONS;
	view->shows_files = words & 1u << SORT_FILE;
	view->shows_domains = words & domains;
	view->by_process = words & 1u << SORT_PROCESS;
	view->by_thread = words & 1u << SORT_THREAD;
	view->only_exits = words & 1u << SORT_EXIT;
	view->is_sorted = true;
	return 0;
}

static const struct command_option file_options[] = {
	{"input", 'i', "FILE",
	 "recording to read (default: uniprof.data; - for standard input); can be "
	 "repeated: all are reported as one",
	 .set = add_input, .offset = offsetof(struct report_options, profile)},
	{"output", 'o', "FILE", "output file (default: standard output)",
	 .set = option_set_text, .offset = offsetof(struct report_options, output)},
	{"no-pager", 0, NULL, "don't show the report page by page on a terminal",
	 .set = option_set_true, .offset = offsetof(struct report_options, no_pager)},
	{"open", 0, NULL,
	 "open the file in a web browser, by xdg-open (flamegraph, timeline, html)",
	 .set = option_set_true, .offset = offsetof(struct report_options, opens)},
	{"verbose", 'v', NULL, "show details of the recording and the symbol files",
	 .set = option_set_true,
	 .offset = offsetof(struct report_options, profile.notes.verbose)},
	{0},
};

static const struct command_option view_options[] = {
	{"format", 0, "NAME", "output format, see below (default: histogram)",
	 .word = format_word, .words = "Formats", .set = set_format,
	 .offset = offsetof(struct report_options, format)},
	{"tree", 0, NULL, "the same as --format tree", .set = set_tree,
	 .offset = offsetof(struct report_options, format)},
	{"invert", 0, NULL,
	 "start at the sampled functions, followed by their callers (folded, tree, "
	 "flamegraph)",
	 .set = option_set_true, .offset = offsetof(struct report_options, view.invert)},
	{"sort", 0, "LIST",
	 "order and columns of histograms: names from the list below, separated by "
	 "commas",
	 .word = sort_word, .words = "Words for --sort",
	 .takes = "a list of self, total, name, sym, dso, domain and comm",
	 .set = set_sort, .offset = offsetof(struct report_options, view)},
	{"max-rows", 'n', "N", "show only the first N rows (histograms)",
	 .takes = "a number above 0", .set = set_most_rows,
	 .offset = offsetof(struct report_options, view.most_rows)},
	{"children", 0, NULL, NULL, .set = set_false,
	 .offset = offsetof(struct report_options, view.no_children)},
	{"stdio", 0, NULL, NULL, .set = ignore_option},
	{"call-graph", 'g', NULL, NULL, .set = ignore_chains},
	{"no-children", 0, NULL, "show self only, no totals (histograms)",
	 .set = option_set_true,
	 .offset = offsetof(struct report_options, view.no_children)},
	{"percent-limit", 0, "P",
	 "omit entries below P percent (default: 0 in histograms, 0.5 in tree)",
	 .takes = "a number from 0 to 100", .set = set_limit,
	 .offset = offsetof(struct report_options, view)},
	{"baseline", 0, "FILE", "earlier recording to compare with (html)",
	 .set = option_set_text, .offset = offsetof(struct report_options, baseline)},
	{"title", 0, "TEXT", "title (flamegraph, timeline, html)", .set = option_set_text,
	 .offset = offsetof(struct report_options, view.title)},
	{"per-vcpu", 0, NULL, "add a column for each vCPU (histograms)",
	 .set = option_set_true,
	 .offset = offsetof(struct report_options, view.per_vcpu)},
	{0},
};

const struct option_group report_option_groups[] = {
	{"Options", file_options, 0},
	{"Names", profile_file_options, offsetof(struct report_options, profile)},
	{NULL, profile_server_options, offsetof(struct report_options, profile)},
	{NULL, profile_symbol_options, offsetof(struct report_options, profile)},
	{"Samples", profile_sample_options, offsetof(struct report_options, profile)},
	{"Waits, with --weight wait", profile_wait_options,
	 offsetof(struct report_options, profile)},
	{"Presentation", view_options, 0},
	{0},
};

/* Fails if the format doesn't support an option; sets what depends on the format. */
static int fit_format(struct report_options *options)
{
	const struct output *format = options->format;
	const struct report_view *view = &options->view;
	struct profile_rules *rules = &options->profile.rules;
	const char *useless = NULL;

	if (view->per_vcpu && (!format->has_columns || rules->weight == MEASURE_WAIT))
		useless = "--per-vcpu";
	if (view->no_children && !format->has_columns)
		useless = "--no-children";
	if (view->is_sorted && !format->has_columns)
		useless = "--sort";
	if (view->most_rows && !format->has_columns)
		useless = "--max-rows";
	if (view->has_limit && !format->has_limit)
		useless = "--percent-limit";
	if (view->invert && !format->can_invert)
		useless = "--invert";
	if (options->baseline && !format->has_baseline)
		useless = "--baseline";
	if (view->title && !format->for_browsers)
		useless = "--title";
	if (rules->lines != SOURCE_LINES_NONE && format->lines == OUTPUT_LINES_NONE)
		useless = "--srcline";
	if (rules->weight == MEASURE_WAIT && !format->counts_waits)
		useless = "--weight wait";
	if (rules->input_count > 1 && format->one_recording)
		useless = "more than one recording";
	if (options->opens && !format->for_browsers)
		return usage_error("report",
				   "--open is for web browsers: use --format html, "
				   "flamegraph or timeline");
	if (useless)
		return usage_error("report", "format %s does not support %s",
				   format->name, useless);
	rules->exits |= view->only_exits;
	rules->per_process |= view->by_process;
	rules->per_thread |= view->by_thread;
	rules->per_thread |= rules->weight == MEASURE_WAIT && format->splits_waits;
	if (options->opens && (!options->output || strcmp(options->output, "-") == 0))
		return usage_error("report", "--open needs a file: use -o FILE");
	if (format->is_binary && isatty(STDOUT_FILENO) &&
	    (!options->output || strcmp(options->output, "-") == 0))
		return usage_error("report",
				   "refusing to write %s to a terminal; use -o FILE or a "
				   "pipe",
				   format->name);
	options->profile.notes.lacks_functions = format->lacks_functions;
	if (format->bare_names && rules->demangle == DEMANGLE_FULL)
		rules->demangle = DEMANGLE_BARE;
	if (format->all_weights) {
		options->view.weight = rules->weight;
		rules->weight = MEASURE_SAMPLES;
		rules->keeps_times = true;
		rules->keeps_waits = true;
	}
	if (rules->lines != SOURCE_LINES_NONE && format->lines == OUTPUT_LINES_APART)
		rules->lines = SOURCE_LINES_APART;
	return COMMAND_GO_ON;
}

static int add_files(struct profile_options *profile, char **files)
{
	const char *command = profile->command;
	struct error err;

	for (; *files; files++)
		if (profile_options_input(profile, *files, &err) < 0)
			return usage_error(command, "%s", err.text);
	if (!profile->rules.input_count)
		profile_options_input(profile, "uniprof.data", &err);
	return COMMAND_GO_ON;
}

int report_options_parse(struct report_options *options, const struct command *command,
			 int argc, char **argv)
{
	struct error err;
	char **files;
	int status;

	*options = (struct report_options){
		.format = output_find("histogram"),
		.view.lists_unnamed = true,
	};
	if (profile_options_init(&options->profile, command->name, argc) < 0)
		return EXIT_FAILED;
	status = command_parse(command, argc, argv, options, &files);
	if (status == COMMAND_GO_ON)
		status = add_files(&options->profile, files);
	if (status != COMMAND_GO_ON)
		return status;
	status = profile_options_check(&options->profile);
	if (status == COMMAND_GO_ON)
		status = fit_format(options);
	if (status == COMMAND_GO_ON && options->baseline &&
	    profile_options_input(&options->profile, options->baseline, &err) < 0)
		return usage_error(command->name, "%s", err.text);
	return status;
}

void report_options_free(struct report_options *options)
{
	profile_options_free(&options->profile);
}
