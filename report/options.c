/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/usage.h"

static const char shorts[] = ":i:o:s:vh";

enum long_only {
	OPTION_FORMAT = USAGE_LONG_ONLY,
	OPTION_PER_VCPU,
	OPTION_WEIGHT,
	OPTION_STATE,
	OPTION_DOMAIN,
	OPTION_SYMFS,
	OPTION_DEBUG_DIR,
	OPTION_DEMANGLE,
	OPTION_NO_DEMANGLE,
	OPTION_SRCLINE,
	OPTION_INLINE,
};

static const char usage[] =
	"Usage: uniprof report [OPTION]...\n"
	"\n"
	"Names the addresses of a recording and writes what other tools read.\n"
	"\n"
	"  -i, --input FILE    the recording [uniprof.data]; - is standard input\n"
	"  -s, --symbols FILE[@OFFSET][,domain=DOMAIN]\n"
	"                      what names the guest's addresses: its ELF program,\n"
	"                      nm output, System.map, /proc/kallsyms, a perf map;\n"
	"                      OFFSET is added to the file's addresses, and DOMAIN\n"
	"                      is the only one whose addresses it names; may be\n"
	"                      given several times\n"
	"      --symfs DIR     look for symbol and debug files below this directory\n"
	"      --debug-dir DIR where separate debug files are [/usr/lib/debug]\n"
	"      --no-demangle   leave C++, Rust and OCaml names as they are in the files\n"
	"      --srcline       add the source file and line to functions (DWARF)\n"
	"      --inline        show inlined functions as callees (DWARF)\n"
	"      --weight WHAT   what a sample counts for: 1 (samples), the CPU time that\n"
	"                      its vCPU used up to it (cpu-time), or all the time\n"
	"                      since its vCPU's last sample (wall) [samples]\n"
	"      --state STATE   only samples of vCPUs that were running (or wanted to),\n"
	"                      runnable (wanting to) or blocked [all]\n"
	"      --domain LIST   only these domains: names or ids, commas between them\n"
	"      --format NAME   how to write the report [histogram], see below\n"
	"  -o, --output FILE   where to write it [standard output]\n"
	"      --per-vcpu      a column more for each vCPU (histograms)\n"
	"  -v, --verbose       say more about the recording and the symbols\n"
	"  -h, --help          show this help\n"
	"\n"
	"Formats:\n";

static const char usage_exit_codes[] =
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 3 the recording was damaged and what\n"
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
		return REPORT_GO_ON;
	for (const struct output *const *o = output_list(); *o && used < sizeof(names);
	     o++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
					 used ? ", " : "", (*o)->name);
	return usage_error("report", "no format '%s'; there are %s", name, names);
}

/* Words that an option takes, and the numbers that they stand for. */
struct word {
	const char *word;
	int value;
};

static const struct word weights[] = {
	{"samples", MEASURE_SAMPLES},
	{"cpu-time", MEASURE_CPU_TIME},
	{"wall", MEASURE_WALL},
	{0},
};

static const struct word states[] = {
	{"running", MEASURE_RUNNING},
	{"runnable", MEASURE_RUNNABLE},
	{"blocked", MEASURE_BLOCKED},
	{"all", MEASURE_ALL_STATES},
	{0},
};

/* REPORT_GO_ON and the value of optarg, or the exit code. */
static int choose_word(const struct word *words, const char *option, int *value)
{
	char list[80] = "";
	size_t used = 0;

	for (const struct word *w = words; w->word; w++) {
		if (strcmp(w->word, optarg) == 0) {
			*value = w->value;
			return REPORT_GO_ON;
		}
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
					 used ? ", " : "", w->word);
	}
	return usage_error("report", "no %s '%s'; there are %s", option, optarg, list);
}

static int parse_option(struct report_options *options, int option, char **argv)
{
	int status, value = 0;

	switch (option) {
	case 'i':
		options->input = optarg;
		return REPORT_GO_ON;
	case 'o':
		options->output = optarg;
		return REPORT_GO_ON;
	case 's':
		options->symbols[options->symbol_count++] = optarg;
		return REPORT_GO_ON;
	case OPTION_FORMAT:
		if (strcmp(optarg, "help") == 0) {
			put_formats(stdout);
			return EXIT_DONE;
		}
		return choose_format(options, optarg);
	case OPTION_WEIGHT:
		status = choose_word(weights, "--weight", &value);
		options->weight = (enum measure_weight)value;
		return status;
	case OPTION_STATE:
		status = choose_word(states, "--state", &value);
		options->states = (enum measure_states)value;
		return status;
	case OPTION_DOMAIN:
		options->domains = optarg;
		return REPORT_GO_ON;
	case OPTION_SYMFS:
		options->symfs = optarg;
		return REPORT_GO_ON;
	case OPTION_DEBUG_DIR:
		options->debug_directory = optarg;
		return REPORT_GO_ON;
	case OPTION_DEMANGLE:
	case OPTION_NO_DEMANGLE:
		options->demangle = option == OPTION_DEMANGLE;
		return REPORT_GO_ON;
	case OPTION_SRCLINE:
		options->srcline = true;
		return REPORT_GO_ON;
	case OPTION_INLINE:
		options->inlined = true;
		return REPORT_GO_ON;
	case OPTION_PER_VCPU:
		options->per_vcpu = true;
		return REPORT_GO_ON;
	case 'v':
		options->verbose = true;
		return REPORT_GO_ON;
	case 'h':
		return help();
	default:
		return usage_bad_option("report", option, shorts, argv);
	}
}

int report_options_parse(struct report_options *options, int argc, char **argv)
{
	static const struct option longs[] = {
		{"input", required_argument, NULL, 'i'},
		{"output", required_argument, NULL, 'o'},
		{"symbols", required_argument, NULL, 's'},
		{"format", required_argument, NULL, OPTION_FORMAT},
		{"weight", required_argument, NULL, OPTION_WEIGHT},
		{"state", required_argument, NULL, OPTION_STATE},
		{"domain", required_argument, NULL, OPTION_DOMAIN},
		{"symfs", required_argument, NULL, OPTION_SYMFS},
		{"debug-dir", required_argument, NULL, OPTION_DEBUG_DIR},
		{"demangle", no_argument, NULL, OPTION_DEMANGLE},
		{"no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE},
		{"srcline", no_argument, NULL, OPTION_SRCLINE},
		{"inline", no_argument, NULL, OPTION_INLINE},
		{"per-vcpu", no_argument, NULL, OPTION_PER_VCPU},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option, status;

	*options = (struct report_options){
		.input = "uniprof.data",
		.format = output_find("histogram"),
		.states = MEASURE_ALL_STATES,
		.debug_directory = "/usr/lib/debug",
		.demangle = true,
		.symbols = calloc((size_t)argc, sizeof(*options->symbols)),
	};
	if (!options->symbols) {
		fputs("uniprof report: not enough memory\n", stderr);
		return EXIT_FAILED;
	}
	opterr = 0;
	while ((option = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		status = parse_option(options, option, argv);
		if (status != REPORT_GO_ON)
			return status;
	}
	if (optind < argc)
		return usage_error("report",
				   "unexpected '%s'; the recording is given with -i",
				   argv[optind]);
	if (options->per_vcpu && !options->format->has_vcpu_columns)
		return usage_error("report", "--per-vcpu is not for the format %s",
				   options->format->name);
	if (options->srcline && options->format == &output_perf_script)
		return usage_error("report", "--srcline is not for the format %s",
				   options->format->name);
	return REPORT_GO_ON;
}

void report_options_free(struct report_options *options)
{
	free(options->symbols);
	options->symbols = NULL;
}
