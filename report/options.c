/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/options.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/parse.h"

static const char shorts[] = ":i:o:h" PROFILE_SHORTS;

enum long_only {
	OPTION_FORMAT = PROFILE_OPTIONS_END,
	OPTION_TREE,
	OPTION_INVERT,
	OPTION_NO_CHILDREN,
	OPTION_PERCENT_LIMIT,
	OPTION_PER_VCPU,
};

static const char usage[] =
	"Usage: uniprof report [OPTION]... [FILE]...\n"
	"\n"
	"Names the addresses of a recording and writes what other tools read.\n"
	"\n"
	"  FILE                a recording [uniprof.data]; - is standard input; several\n"
	"                      are reported as one\n"
	"  -i, --input FILE    the same\n" PROFILE_USAGE_SYMBOLS PROFILE_USAGE_NAMES
	"  -o, --output FILE   where to write the report [standard output]\n"
	"  -v, --verbose       say more about the recording and the symbols\n"
	"  -h, --help          show this help\n"
	"\n" PROFILE_USAGE_FILTERS "\n"
	"How to show it:\n"
	"      --format NAME   [histogram], see below\n"
	"      --tree          the same as --format tree\n"
	"      --invert        callees first, then their callers (folded, tree,\n"
	"                      flamegraph)\n"
	"      --no-children   without what functions called: no total (histograms)\n"
	"      --percent-limit P\n"
	"                      nothing below P per cent (histograms [0], tree [0.5])\n"
	"      --per-vcpu      a column more for each vCPU (histograms)\n"
	"\n"
	"Formats:\n";

static const char usage_exit_codes[] =
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 3 a recording was damaged and what\n"
	"could be read was reported.\n";

static void put_formats(FILE *to)
{
	for (const struct output *const *o = output_list(); *o; o++)
		fprintf(to, "  %-14s  %s\n", (*o)->name, (*o)->about);
}

static int help(void)
{
	fputs(usage, stdout);
	put_formats(stdout);
	fputs(usage_exit_codes, stdout);
	return EXIT_DONE;
}

static int choose_format(struct report_options *options, const char *name)
{
	char names[512] = "";
	size_t used = 0;

	options->format = output_find(name);
	if (options->format)
		return PROFILE_GO_ON;
	for (const struct output *const *o = output_list(); *o && used < sizeof(names);
	     o++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", (*o)->name);
	return usage_error("report", "no format '%s'; there are %s", name, names);
}

int report_parse_limit(const char *command, const char *text, double *percent)
{
	size_t length = strlen(text);
	uint64_t billionths;
	char copy[32];

	if (length && text[length - 1] == '%')
		length--;
	snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	if (length >= sizeof(copy) || parse_billionths(copy, 101, &billionths) < 0 ||
	    billionths > 100000000000)
		return usage_error(command,
				   "--percent-limit takes a number from 0 to 100, not "
				   "'%s'",
				   text);
	*percent = (double)billionths / 1e9;
	return PROFILE_GO_ON;
}

static int parse_option(struct report_options *options, int option, char **argv)
{
	struct report_view *view = &options->view;

	switch (option) {
	case 'i':
		return profile_options_input(&options->profile, optarg);
	case 'o':
		options->output = optarg;
		return PROFILE_GO_ON;
	case OPTION_FORMAT:
		if (strcmp(optarg, "help") == 0) {
			put_formats(stdout);
			return EXIT_DONE;
		}
		return choose_format(options, optarg);
	case OPTION_TREE:
		return choose_format(options, "tree");
	case OPTION_INVERT:
		view->invert = true;
		return PROFILE_GO_ON;
	case OPTION_NO_CHILDREN:
		view->no_children = true;
		return PROFILE_GO_ON;
	case OPTION_PERCENT_LIMIT:
		view->has_limit = true;
		return report_parse_limit("report", optarg, &view->percent_limit);
	case OPTION_PER_VCPU:
		view->per_vcpu = true;
		return PROFILE_GO_ON;
	case 'h':
		return help();
	default:
		return profile_options_take(&options->profile, option, shorts, argv);
	}
}

/* Whether the format has a use for all that was given. */
static int check_format(const struct report_options *options)
{
	const struct output *format = options->format;
	const struct report_view *view = &options->view;
	const char *useless = NULL;

	if (view->per_vcpu && !format->has_columns)
		useless = "--per-vcpu";
	if (view->no_children && !format->has_columns)
		useless = "--no-children";
	if (view->has_limit && !format->has_limit)
		useless = "--percent-limit";
	if (view->invert && !format->can_invert)
		useless = "--invert";
	if (options->profile.rules.srcline && format == &output_perf_script)
		useless = "--srcline";
	/* Each has a time of its own. */
	if (options->profile.rules.input_count > 1 && format == &output_timeline)
		useless = "more than one recording";
	if (!useless)
		return PROFILE_GO_ON;
	return usage_error("report", "%s is not for the format %s", useless,
			   format->name);
}

int report_options_parse(struct report_options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		PROFILE_LONGS,
		{"input", required_argument, NULL, 'i'},
		{"output", required_argument, NULL, 'o'},
		{"format", required_argument, NULL, OPTION_FORMAT},
		{"tree", no_argument, NULL, OPTION_TREE},
		{"invert", no_argument, NULL, OPTION_INVERT},
		{"no-children", no_argument, NULL, OPTION_NO_CHILDREN},
		{"percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT},
		{"per-vcpu", no_argument, NULL, OPTION_PER_VCPU},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option, status = PROFILE_GO_ON;

	*options = (struct report_options){.format = output_find("histogram")};
	if (profile_options_init(&options->profile, "report", argc) < 0)
		return EXIT_FAILED;
	opterr = 0;
	while (status == PROFILE_GO_ON &&
	       (option = getopt_long(argc, argv, shorts, longs, NULL)) != -1)
		status = parse_option(options, option, argv);
	while (status == PROFILE_GO_ON && optind < argc)
		status = profile_options_input(&options->profile, argv[optind++]);
	if (status == PROFILE_GO_ON && !options->profile.rules.input_count)
		status = profile_options_input(&options->profile, "uniprof.data");
	/* As perf prints them. */
	if (options->format == &output_perf_script &&
	    options->profile.rules.demangle == DEMANGLE_FULL)
		options->profile.rules.demangle = DEMANGLE_BARE;
	return status == PROFILE_GO_ON ? check_format(options) : status;
}

void report_options_free(struct report_options *options)
{
	profile_options_free(&options->profile);
}
