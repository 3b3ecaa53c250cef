/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/diff.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/options.h"
#include "report/outfile.h"
#include "report/report.h"

static const char shorts[] = ":no:h" PROFILE_SHORTS;

enum long_only {
	OPTION_FORMAT = PROFILE_OPTIONS_END,
	OPTION_BASELINE_SYMBOLS,
	OPTION_PERCENT_LIMIT,
	OPTION_WIDTHS,
	OPTION_INVERT,
};

static const struct diff_output outputs[] = {
	{
		.name = "histogram",
		.about = "a table of functions, to read",
		.has_limit = true,
		.write = diff_text_write,
	},
	{
		.name = "histogram-csv",
		.about = "the same for spreadsheets",
		.has_limit = true,
		.write = diff_csv_write,
	},
	{
		.name = "histogram-json",
		.about = "the same for programs",
		.has_limit = true,
		.write = diff_json_write,
	},
	{
		.name = "flamegraph",
		.about = "a flame graph for a web browser: red is more, blue less",
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
	const struct diff_output *format;
	double percent_limit;
	bool has_limit;
	bool normalize;
	bool invert;
	enum diff_side widths;
	bool has_widths;
};

static const char usage[] =
	"Usage: uniprof diff [OPTION]... BASELINE NEW\n"
	"\n"
	"Compares two recordings.\n"
	"\n" PROFILE_USAGE_SYMBOLS
	"      --baseline-symbols FILE[@OFFSET][,domain=DOMAIN]\n"
	"                      the same for BASELINE alone; all of -s are then "
	"NEW's\n" PROFILE_USAGE_NAMES
	"  -o, --output FILE   where to write the difference [standard output]\n"
	"  -v, --verbose       say more about the recordings and the symbols\n"
	"  -h, --help          show this help\n"
	"\n" PROFILE_USAGE_FILTERS "\n"
	"How to show it:\n"
	"      --format NAME   [histogram], see below\n"
	"      --percent-limit P\n"
	"                      no function below P per cent in both (histograms) [0]\n"
	"      --invert        callees first, then their callers (folded, flamegraph)\n"
	"      --widths SIDE   draw what 'baseline' or 'new' has (flamegraph) [new]\n"
	"  -n, --normalize     scale BASELINE's counts to what NEW comes to (folded)\n"
	"\n"
	"Formats:\n";

static const char usage_exit_codes[] =
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 3 a recording was damaged and what\n"
	"could be read was compared.\n";

static int help(void)
{
	fputs(usage, stdout);
	for (size_t i = 0; i < OUTPUTS; i++)
		printf("  %-14s  %s\n", outputs[i].name, outputs[i].about);
	fputs(usage_exit_codes, stdout);
	return EXIT_DONE;
}

static int choose_format(struct diff_options *options)
{
	for (size_t i = 0; i < OUTPUTS; i++) {
		if (strcmp(outputs[i].name, optarg) == 0) {
			options->format = &outputs[i];
			return PROFILE_GO_ON;
		}
	}
	return usage_error("diff",
			   "no format '%s'; there are histogram, histogram-csv, "
			   "histogram-json, flamegraph, folded",
			   optarg);
}

static int choose_widths(struct diff_options *options)
{
	options->has_widths = true;
	options->widths = strcmp(optarg, "baseline") == 0 ? DIFF_BASELINE : DIFF_NEW;
	if (options->widths == DIFF_BASELINE || strcmp(optarg, "new") == 0)
		return PROFILE_GO_ON;
	return usage_error("diff", "--widths is baseline or new, not '%s'", optarg);
}

static int parse_option(struct diff_options *options, int option, char **argv)
{
	switch (option) {
	case 'o':
		options->output = optarg;
		return PROFILE_GO_ON;
	case 'n':
		options->normalize = true;
		return PROFILE_GO_ON;
	case 'h':
		return help();
	case OPTION_FORMAT:
		return choose_format(options);
	case OPTION_BASELINE_SYMBOLS:
		options->baseline_symbols[options->baseline_symbol_count++] = optarg;
		return PROFILE_GO_ON;
	case OPTION_INVERT:
		options->invert = true;
		return PROFILE_GO_ON;
	case OPTION_WIDTHS:
		return choose_widths(options);
	case OPTION_PERCENT_LIMIT:
		options->has_limit = true;
		return report_parse_limit("diff", optarg, &options->percent_limit);
	default:
		return profile_options_take(&options->profile, option, shorts, argv);
	}
}

/* Options that the format would not do anything with are mistakes. */
static int check_format(const struct diff_options *options)
{
	const struct diff_output *format = options->format;
	const char *unknown = options->invert && !format->can_invert	 ? "invert"
			      : options->has_limit && !format->has_limit ? "percent-limit"
			      : options->normalize && !format->can_normalize ? "normalize"
			      : options->has_widths && !format->has_widths   ? "widths"
									     : NULL;

	if (!unknown)
		return PROFILE_GO_ON;
	return usage_error("diff", "--%s is not for the format %s", unknown,
			   format->name);
}

/* What each of the two is made of. */
static int choose_sides(struct diff_options *options, int count, char **names)
{
	struct profile_rules *rules = options->rules;
	int status = PROFILE_GO_ON;

	if (count != DIFF_SIDES)
		return usage_error("diff", "give two recordings: BASELINE and NEW");
	for (int i = 0; i < DIFF_SIDES && status == PROFILE_GO_ON; i++)
		status = profile_options_input(&options->profile, names[i]);
	for (int i = 0; i < DIFF_SIDES; i++) {
		rules[i] = options->profile.rules;
		rules[i].inputs = options->profile.rules.inputs + i;
		rules[i].input_count = 1;
		rules[i].about = names[i];
	}
	if (options->baseline_symbol_count) {
		rules[DIFF_BASELINE].symbols = options->baseline_symbols;
		rules[DIFF_BASELINE].symbol_count = options->baseline_symbol_count;
	}
	return status;
}

static int parse_options(struct diff_options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		PROFILE_LONGS,
		{"output", required_argument, NULL, 'o'},
		{"format", required_argument, NULL, OPTION_FORMAT},
		{"baseline-symbols", required_argument, NULL, OPTION_BASELINE_SYMBOLS},
		{"percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT},
		{"invert", no_argument, NULL, OPTION_INVERT},
		{"widths", required_argument, NULL, OPTION_WIDTHS},
		{"normalize", no_argument, NULL, 'n'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option, status = PROFILE_GO_ON;

	opterr = 0;
	while (status == PROFILE_GO_ON &&
	       (option = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		status = parse_option(options, option, argv);
	if (status == PROFILE_GO_ON)
		status = choose_sides(options, argc - optind, argv + optind);
	if (status != PROFILE_GO_ON)
		return status;
	return check_format(options);
}

static int read_sides(struct profile *profiles, const struct diff_options *options,
		      struct diff *diff, struct error *err)
{
	bool is_watched = isatty(STDERR_FILENO) && !isatty(fileno(diff->out));

	for (int i = 0; i < DIFF_SIDES; i++) {
		struct report *report = &diff->reports[i];

		profile_describe_symbols(&profiles[i]);
		*report = profile_report(&profiles[i]);
		report->view.no_children = true;
		report->view.invert = options->invert;
		if (profile_read(&profiles[i], diff->out, is_watched, NULL, NULL, err) <
		    0)
			return -1;
		profile_complete(&profiles[i], report);
		diff->has_domains |= report->domain_count > 1;
	}
	return 0;
}

static int open_sides(struct profile *profiles, const struct diff_options *options,
		      struct diff *diff, struct error *err)
{
	struct input inputs[DIFF_SIDES];

	for (int i = 0; i < DIFF_SIDES; i++) {
		if (profile_open(&profiles[i], &options->rules[i], err) < 0)
			return -1;
		inputs[i] = profiles[i].inputs[0];
		diff->names[i] = inputs[i].name;
	}
	diff->out = outfile_open(options->output, inputs, DIFF_SIDES, err);
	return diff->out ? 0 : -1;
}

static int run(const struct diff_options *options)
{
	struct profile profiles[DIFF_SIDES] = {0};
	struct diff diff = {.normalize = options->normalize,
			    .widths = options->widths,
			    .percent_limit = options->percent_limit};
	struct error err = {""}, write_err = {""};
	int exit_code = EXIT_FAILED, status;

	if (open_sides(profiles, options, &diff, &err) < 0)
		goto out;
	status = read_sides(profiles, options, &diff, &err);
	if (status == 0 && options->format->write(&diff) < 0)
		status = error_set(
			&err, "not enough memory, or room for a temporary file, for the "
			      "difference");
	if (outfile_close(diff.out, options->output, &write_err) < 0) {
		err = write_err;
		goto out;
	}
	if (status < 0)
		goto out;
	exit_code = EXIT_DONE;
	for (int i = 0; i < DIFF_SIDES; i++)
		if (profile_say_notes(&profiles[i]) == EXIT_DAMAGED)
			exit_code = EXIT_DAMAGED;
out:
	if (exit_code == EXIT_FAILED && err.text[0])
		fprintf(stderr, "uniprof diff: %s\n", err.text);
	for (int i = 0; i < DIFF_SIDES; i++)
		profile_close(&profiles[i]);
	return exit_code;
}

int command_diff(int argc, char **argv)
{
	struct diff_options options = {.format = &outputs[0], .widths = DIFF_NEW};
	int status = EXIT_FAILED;

	options.baseline_symbols = calloc((size_t)argc + 1,
					  sizeof(*options.baseline_symbols));
	if (profile_options_init(&options.profile, "diff", argc) == 0 &&
	    options.baseline_symbols)
		status = parse_options(&options, argc, argv);
	if (status == PROFILE_GO_ON)
		status = run(&options);
	profile_options_free(&options.profile);
	free(options.baseline_symbols);
	return status;
}
