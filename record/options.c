/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/options.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/parse.h"
#include "base/usage.h"

static const char help[] =
	"Usage: uniprof record [OPTION]... DOMAIN...\n"
	"Samples the call stacks of running Xen domains, given by name or id, into a\n"
	"file. It ends after the given time, at Ctrl-C, or when the last guest ends.\n"
	"\n"
	"  -F, --freq HZ        rounds of samples a second, 1 to 10000 (default 99)\n"
	"  -T, --time SECONDS   stop after this time, which may have a fraction\n"
	"  -o, --output FILE    where to write (default uniprof.data; - for a pipe);\n"
	"                       a recording that is there is kept as FILE.old\n"
	"  -a, --all            sample all guests\n"
	"      --follow         go on with a guest that comes back after a reboot, wait\n"
	"                       for one that is not there yet; with -a, add new guests\n"
	"      --vcpu LIST      sample these vCPUs only, as in 0,2-3\n"
	"      --max-overhead PERCENT\n"
	"                       lower the rate when pauses would stop the guest for "
	"more\n"
	"                       of the time than this (default 5)\n"
	"      --jitter         sample at random times, not in step with the guest\n"
	"  -v, --verbose        say more about the domain and the hypervisor\n"
	"  -h, --help           show this\n"
	"\n"
	"Exit codes: 0 done, 1 failed, 2 wrong usage.\n";

static const char shorts[] = ":F:T:o:avh";

enum long_only {
	OPTION_VCPU = USAGE_LONG_ONLY,
	OPTION_FOLLOW,
	OPTION_JITTER,
	OPTION_MAX_OVERHEAD,
};

/* 0, or the exit code. */
static int read_option(int option, char **argv, struct record_options *options)
{
	switch (option) {
	case 'F':
		if (parse_number(optarg, 1, MAX_FREQUENCY, &options->frequency) < 0)
			return usage_error("record",
					   "the rate has to be 1 to %d Hz, not '%s'",
					   MAX_FREQUENCY, optarg);
		return 0;
	case 'T':
		if (parse_seconds(optarg, &options->time_limit) < 0)
			return usage_error(
				"record",
				"the time has to be seconds above 0, as 10 or 2.5, "
				"not '%s'",
				optarg);
		return 0;
	case 'o':
		options->output = optarg;
		return 0;
	case 'a':
		options->all = true;
		return 0;
	case OPTION_FOLLOW:
		options->follow = true;
		return 0;
	case OPTION_VCPU:
		options->vcpus = optarg;
		return 0;
	case OPTION_JITTER:
		options->jitter = true;
		return 0;
	case OPTION_MAX_OVERHEAD:
		if (parse_percent(optarg, &options->max_overhead) < 0)
			return usage_error("record",
					   "the overhead has to be 0.01 to 100 per cent, "
					   "not '%s'",
					   optarg);
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	default:
		return usage_bad_option("record", option, shorts, argv);
	}
}

bool record_options_read(int argc, char **argv, struct record_options *options,
			 int *status)
{
	static const struct option known[] = {
		{"freq", required_argument, NULL, 'F'},
		{"time", required_argument, NULL, 'T'},
		{"output", required_argument, NULL, 'o'},
		{"all", no_argument, NULL, 'a'},
		{"follow", no_argument, NULL, OPTION_FOLLOW},
		{"vcpu", required_argument, NULL, OPTION_VCPU},
		{"jitter", no_argument, NULL, OPTION_JITTER},
		{"max-overhead", required_argument, NULL, OPTION_MAX_OVERHEAD},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{NULL, 0, NULL, 0},
	};
	int option;

	*options = (struct record_options){
		.frequency = DEFAULT_FREQUENCY,
		.max_overhead = DEFAULT_OVERHEAD,
		.output = "uniprof.data",
	};
	opterr = 0;
	while ((option = getopt_long(argc, argv, shorts, known, NULL)) != -1) {
		if (option == 'h') {
			fputs(help, stdout);
			*status = EXIT_DONE;
			return false;
		}
		*status = read_option(option, argv, options);
		if (*status)
			return false;
	}
	options->domain = argv + optind;
	options->domains = (size_t)(argc - optind);
	if (!options->domains && !options->all) {
		*status = usage_error("record", "which domain? (-a for all guests)");
		return false;
	}
	if (options->domains && options->all) {
		*status = usage_error("record", "either -a or '%s'", argv[optind]);
		return false;
	}
	if (options->output[0] == '-' && !options->output[1] && isatty(STDOUT_FILENO)) {
		*status = usage_error("record", "a recording is nothing for a terminal; "
						"give -o FILE or a pipe");
		return false;
	}
	return true;
}
