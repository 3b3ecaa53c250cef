/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/diff/diff.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/command/message.h"
#include "commands/commands.h"
#include "commands/report/notes.h"
#include "commands/report/pager.h"
#include "commands/report/options.h"
#include "commands/report/progress.h"
#include "output/write/outfile.h"

static const struct diff_output outputs[] = {
	{
		.name = "histogram",
		.about = "a table of functions (human-readable)",
		.has_limit = true,
		.write = diff_text_write,
	},
	{
		.name = "histogram-csv",
		.about = "the same as CSV",
		.has_limit = true,
		.write = diff_csv_write,
	},
	{
		.name = "histogram-json",
		.about = "the same as JSON",
		.has_limit = true,
		.write = diff_json_write,
	},
	{
		.name = "flamegraph",
		.about = "a flame graph for web browsers (SVG): red is more, blue less",
		.has_widths = true,
		.can_invert = true,
		.write = diff_flamegraph_write,
	},
	{
		.name = "folded",
		.about = "collapsed stacks with two counts, for flamegraph.pl",
		.can_normalize = true,
		.can_invert = true,
		.write = diff_folded_write,
	},
};

#define OUTPUTS (sizeof(outputs) / sizeof(outputs[0]))

struct diff_options {
	struct profile_options profile;
	struct profile_rules rules[DIFF_SIDES];
	const char **baseline_symbols;
	size_t baseline_symbol_count;
	const char *output; /* NULL: standard output */
	bool no_pager;
	const struct diff_output *format;
	double percent_limit;
	bool has_limit;
	enum report_sort sort;
	bool is_sorted;
	bool normalize;
	bool invert;
	enum diff_side widths;
	bool has_widths;
};

static struct option_word format_word(unsigned int i)
{
	return i < OUTPUTS ? (struct option_word){outputs[i].name, outputs[i].about, 0}
			   : (struct option_word){0};
}

static int set_format(void *to, const char *argument, struct error *err)
{
	(void)err;
	for (size_t i = 0; i < OUTPUTS; i++)
		if (strcmp(outputs[i].name, argument) == 0)
			*(const struct diff_output **)to = &outputs[i];
	return 0;
}

static struct option_word side_word(unsigned int i)
{
	static const struct option_word words[] = {
		{.word = "baseline"}, {.word = "new"}, {0}};

	return words[i];
}

static int set_widths(void *to, const char *argument, struct error *err)
{
	struct diff_options *options = to;

	(void)err;
	options->has_widths = true;
	options->widths = strcmp(argument, "new") == 0 ? DIFF_NEW : DIFF_BASELINE;
	return 0;
}

static int add_baseline_symbols(void *to, const char *argument, struct error *err)
{
	struct diff_options *options = to;

	(void)err;
	options->baseline_symbols[options->baseline_symbol_count++] = argument;
	return 0;
}

static int set_limit(void *to, const char *argument, struct error *err)
{
	struct diff_options *options = to;

	(void)err;
	options->has_limit = true;
	return report_parse_limit(argument, &options->percent_limit);
}

static struct option_word sort_word(unsigned int i)
{
	static const struct option_word words[] = {{"self", NULL, REPORT_SORT_SELF},
						   {"total", NULL, REPORT_SORT_TOTAL},
						   {"name", NULL, REPORT_SORT_NAME},
						   {0}};

	return words[i];
}

static int set_sort(void *to, const char *argument, struct error *err)
{
	struct diff_options *options = to;

	(void)err;
	options->is_sorted = true;
	for (unsigned int i = 0; sort_word(i).word; i++)
		if (strcmp(sort_word(i).word, argument) == 0)
			options->sort = (enum report_sort)sort_word(i).value;
	return 0;
}

static const struct command_option file_options[] = {
	{"output", 'o', "FILE", "output file (default: standard output)",
	 .set = option_set_text, .offset = offsetof(struct diff_options, output)},
	{"no-pager", 0, NULL, "don't show the comparison page by page on a terminal",
	 .set = option_set_true, .offset = offsetof(struct diff_options, no_pager)},
	{"verbose", 'v', NULL, "show details of the recordings and the symbol files",
	 .set = option_set_true,
	 .offset = offsetof(struct diff_options, profile.notes.verbose)},
	{"baseline-symbols", 0, "FILE[@OFFSET][,domain=DOMAIN]",
	 "symbol file for BASELINE; --symbols then applies to NEW only; can be repeated",
	 .set = add_baseline_symbols},
	{0},
};

static const struct command_option view_options[] = {
	{"format", 0, "NAME", "output format, see below (default: histogram)",
	 .word = format_word, .words = "Formats", .set = set_format,
	 .offset = offsetof(struct diff_options, format)},
	{"percent-limit", 0, "P",
	 "omit functions below P percent in both (histograms) (default: 0)",
	 .takes = "a number from 0 to 100", .set = set_limit},
	{"sort", 0, "KEY",
	 "compare and sort by the change of 'self' or 'total', or sort by 'name' "
	 "(histograms) (default: self)",
	 .word = sort_word, .set = set_sort},
	{"invert", 0, NULL,
	 "start at the sampled functions, followed by their callers (folded, flamegraph)",
	 .set = option_set_true, .offset = offsetof(struct diff_options, invert)},
	{"widths", 0, "SIDE",
	 "recording whose frames are drawn, 'baseline' or 'new' (flamegraph) (default: "
	 "new)",
	 .word = side_word, .set = set_widths},
	{"normalize", 'n', NULL, "scale BASELINE's counts to NEW's total (folded)",
	 .set = option_set_true, .offset = offsetof(struct diff_options, normalize)},
	{0},
};

static const struct option_group groups[] = {
	{"Options", file_options, 0},
	{"Names", profile_file_options, offsetof(struct diff_options, profile)},
	{NULL, profile_symbol_options, offsetof(struct diff_options, profile)},
	{"Samples", profile_sample_options, offsetof(struct diff_options, profile)},
	{"Waits, with --weight wait", profile_wait_options,
	 offsetof(struct diff_options, profile)},
	{"Presentation", view_options, 0},
	{0},
};

/* Options that the format doesn't support are errors. */
static int check_format(const struct diff_options *options)
{
	const struct diff_output *format = options->format;
	const char *unknown = options->invert && !format->can_invert	 ? "invert"
			      : options->is_sorted && !format->has_limit ? "sort"
			      : options->has_limit && !format->has_limit ? "percent-limit"
			      : options->normalize && !format->can_normalize ? "normalize"
			      : options->has_widths && !format->has_widths   ? "widths"
									     : NULL;

	if (!unknown)
		return COMMAND_GO_ON;
	return usage_error("diff", "format %s does not support --%s", format->name,
			   unknown);
}

/* Sets the rules of both profiles. */
static int choose_sides(struct diff_options *options, char **names)
{
	struct profile_rules *rules = options->rules;
	const char *given[DIFF_SIDES] = {
		names[0] ? names[0] : "uniprof.data.old",
		names[0] ? names[1] : "uniprof.data",
	};
	struct error err;

	if (!given[1])
		return usage_error("diff",
				   "two recordings are required, or none: BASELINE and "
				   "NEW");
	for (int i = 0; i < DIFF_SIDES; i++)
		if (profile_options_input(&options->profile, given[i], &err) < 0)
			return usage_error("diff", "%s", err.text);
	for (int i = 0; i < DIFF_SIDES; i++) {
		rules[i] = options->profile.rules;
		rules[i].inputs = options->profile.rules.inputs + i;
		rules[i].input_count = 1;
	}
	if (options->baseline_symbol_count) {
		rules[DIFF_BASELINE].symbols = options->baseline_symbols;
		rules[DIFF_BASELINE].symbol_count = options->baseline_symbol_count;
	}
	return COMMAND_GO_ON;
}

static int options_parse(struct diff_options *options, const struct command *command,
			 int argc, char **argv)
{
	char **names;
	int status = command_parse(command, argc, argv, options, &names);

	if (status == COMMAND_GO_ON)
		status = choose_sides(options, names);
	if (status == COMMAND_GO_ON)
		status = profile_options_check(&options->profile);
	return status == COMMAND_GO_ON ? check_format(options) : status;
}

/* Reads both recordings; @why is where the outputs explain a failure. -1 with @err set.
 */
static int read_sides(struct profile *profiles, const struct diff_options *options,
		      struct diff *diff, bool has_pager, struct error *why,
		      struct error *err)
{
	const struct report_view view = {
		.no_children = options->sort != REPORT_SORT_TOTAL,
		.invert = options->invert,
	};
	struct progress line;
	const struct profile_progress progress = progress_of_profile(&line);
	const struct profile_listener listener = {
		.out = diff->out,
		.progress = has_pager || isatty(fileno(diff->out)) ? NULL : &progress,
	};

	for (int i = 0; i < DIFF_SIDES; i++) {
		const char *about = options->rules[i].inputs[0];
		int status;

		profile_note_symbols(&profiles[i], &options->profile.notes);
		notes_print(&profiles[i].notes, "diff", about);
		diff->reports[i] = report_of(&profiles[i], &view, diff->out, why);
		status = profile_read(&profiles[i], &listener, err);
		notes_print(&profiles[i].notes, "diff", about);
		if (status < 0)
			return -1;
		diff->has_domains |= report_shows_domains(&diff->reports[i]);
	}
	return 0;
}

/* EXIT_DONE if both sides are open; otherwise the exit code, with @err set. */
static int open_sides(struct profile *profiles, const struct diff_options *options,
		      struct diff *diff, struct error *err)
{
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (profile_open(&profiles[i], &options->rules[i], err) < 0)
			return EXIT_FAILED;
		if (profile_reads(&profiles[i], options->output, err))
			return EXIT_USAGE;
		diff->names[i] = profiles[i].recordings[0].input.name;
	}
	return EXIT_DONE;
}

static int diff_write(const struct diff_options *options, struct pager *pager)
{
	struct profile profiles[DIFF_SIDES] = {0};
	struct diff diff = {.normalize = options->normalize,
			    .widths = options->widths,
			    .sort = options->sort,
			    .percent_limit = options->percent_limit};
	struct error err = {""}, write_err = {""}, why = {""};
	int exit_code, status;
	struct outfile out;

	exit_code = open_sides(profiles, options, &diff, &err);
	if (exit_code != EXIT_DONE)
		goto out;
	exit_code = EXIT_FAILED;
	pager_start(pager, !options->no_pager && (!options->output ||
						  strcmp(options->output, "-") == 0));
	diff.columns = pager->columns;
	if (outfile_open(&out, options->output, &err) < 0)
		goto out;
	/* Written when both were read. */
	out.writes.recorded = &profiles[DIFF_NEW].bytes;
	diff.out = out.stream;
	status = read_sides(profiles, options, &diff, pager->pid, &why, &err);
	if (status == 0 && options->format->write(&diff) < 0) {
		status = error_set(&err, "%s", why.text[0] ? why.text : "out of memory");
	}
	for (int i = 0; i < DIFF_SIDES && status == 0; i++)
		if (profile_note_contents(&profiles[i], &options->profile.notes) < 0)
			status = profile_out_of_memory(&err);
	if (outfile_close(&out, status == 0, &write_err) < 0) {
		err = write_err;
		goto out;
	}
	if (status < 0)
		goto out;
	exit_code = EXIT_DONE;
	for (int i = 0; i < DIFF_SIDES; i++) {
		if (profile_is_damaged(&profiles[i]))
			exit_code = EXIT_DAMAGED;
		notes_print(&profiles[i].notes, "diff", options->rules[i].inputs[0]);
	}
out:
	if ((exit_code == EXIT_FAILED || exit_code == EXIT_USAGE) && err.text[0])
		fprintf(stderr, "uniprof diff: %s\n", err.text);
	for (int i = 0; i < DIFF_SIDES; i++)
		profile_close(&profiles[i]);
	return exit_code;
}

static int diff_run(const struct diff_options *options)
{
	struct pager pager = {0};
	int exit_code = diff_write(options, &pager);

	pager_end(&pager);
	return exit_code;
}

static int diff_command(const struct command *command, int argc, char **argv)
{
	struct diff_options options = {.format = &outputs[0], .widths = DIFF_NEW};
	int status = EXIT_FAILED;

	if (profile_options_init(&options.profile, command->name, argc) < 0)
		goto out;
	options.baseline_symbols = calloc((size_t)argc + 1,
					  sizeof(*options.baseline_symbols));
	if (!options.baseline_symbols) {
		fprintf(stderr, "uniprof diff: out of memory\n");
		goto out;
	}
	status = options_parse(&options, command, argc, argv);
	if (status == COMMAND_GO_ON)
		status = diff_run(&options);
out:
	profile_options_free(&options.profile);
	free(options.baseline_symbols);
	return status;
}

const struct command command_diff = {
	.name = "diff",
	.arguments = "[BASELINE NEW]",
	.most = DIFF_SIDES,
	.summary = "compare two recordings",
	.about = "Compares two recordings; without names, uniprof.data.old, which "
		 "uniprof record leaves, and uniprof.data.",
	.damaged = "a recording is damaged, and what could be read was compared",
	.groups = groups,
	.run = diff_command,
};
