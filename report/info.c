/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/report.h"

#include <getopt.h>
#include <unistd.h>

#include "report/load.h"
#include "report/measure.h"
#include "report/outfile.h"
#include "report/overview.h"
#include "report/progress.h"
#include "base/usage.h"

struct info {
	struct input input;
	struct summary summary;
	struct measure measure;
	struct stacks *stacks;
	struct progress progress;
};

static const char shorts[] = ":i:vh";

static const char usage[] =
	"Usage: uniprof info [OPTION]... [FILE]\n"
	"\n"
	"Says what is in a recording, without looking up any names.\n"
	"\n"
	"  FILE                the recording [uniprof.data]; - is standard input\n"
	"  -i, --input FILE    the same\n"
	"  -v, --verbose       say more\n"
	"  -h, --help          show this help\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 usage, 3 the recording was damaged and what\n"
	"could be read was reported.\n";

/* No exit code: the options are to be acted on. */
#define GO_ON -1

static void say(const struct error *line)
{
	fprintf(stderr, "uniprof info: %s\n", line->text);
}

static int parse_options(int argc, char **argv, const char **path, bool *all)
{
	static const struct option longs[] = {
		{"input", required_argument, NULL, 'i'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (option) {
		case 'i':
			*path = optarg;
			break;
		case 'v':
			*all = true;
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_DONE;
		default:
			return usage_bad_option("info", option, shorts, argv);
		}
	}
	if (optind < argc)
		*path = argv[optind++];
	if (optind < argc)
		return usage_error("info", "unexpected '%s': one recording at a time",
				   argv[optind]);
	return GO_ON;
}

static int add_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct info *info = arg;

	progress_update(&info->progress, info->summary.bytes);
	if (measure_batch(&info->measure, &info->summary, batch) < 0 ||
	    stacks_add(info->stacks, batch, info->measure.counts) < 0)
		return error_set(err, "not enough memory to read %s", info->input.name);
	return 0;
}

static int run(const char *path, bool all)
{
	struct info info = {.input.fd = -1};
	const struct load_visitor visitor = {.samples = add_samples, .arg = &info};
	struct error err = {""};
	int exit_code = EXIT_FAILED, status;

	if (input_open(&info.input, path, &err) < 0)
		goto out;
	info.stacks = stacks_new();
	if (!info.stacks ||
	    measure_init(&info.measure, MEASURE_SAMPLES, MEASURE_ALL_STATES, NULL) < 0) {
		error_set(&err, "not enough memory");
		goto out;
	}
	progress_start(&info.progress, isatty(STDERR_FILENO) ? stderr : NULL,
		       info.input.size);
	status = load_recording(&info.input, 0, &info.summary, &visitor, &err);
	progress_end(&info.progress);
	if (status < 0)
		goto out;
	if (overview_write(stdout, info.input.name, &info.summary, info.stacks, all) <
	    0) {
		error_set(&err, "not enough memory");
		goto out;
	}
	if (outfile_close(stdout, NULL, &err) < 0)
		goto out;
	exit_code = summary_damage(&info.summary, info.input.name, &err) ? EXIT_DAMAGED
									 : EXIT_DONE;
out:
	if (err.text[0])
		say(&err);
	measure_free(&info.measure);
	stacks_free(info.stacks);
	summary_free(&info.summary);
	input_close(&info.input);
	return exit_code;
}

int command_info(int argc, char **argv)
{
	const char *path = "uniprof.data";
	bool all = false;
	int status = parse_options(argc, argv, &path, &all);

	return status == GO_ON ? run(path, all) : status;
}
