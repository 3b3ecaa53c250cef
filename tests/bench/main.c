/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the cost of a sample for a guest; runs in dom0. See bench.h for the
 * measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/command/message.h"
#include "record/open.h"
#include "record/safety/guard.h"
#include "tests/bench/bench.h"

static const char help[] = "Usage: bench pauses DOMAIN SAMPLES RESTART TEXTFILE [TABLE]\n"
			   "       bench rates DOMAIN MILLISECONDS TEXTFILE\n"
			   "       bench command DOMAIN RUNS COMMAND [ARGUMENT]...\n";

/* Runs a measurement. Returns 0; 1 on wrong usage; -1 with @err set on failure. */
static int bench_run(int argc, char **argv, struct error *err)
{
	struct program_table *table = NULL;
	struct guest_info domain;
	size_t number;
	struct host *host;

	if (argc < 5)
		return 1;
	number = strtoul(argv[3], NULL, 10);
	host = host_open(NULL, false, err);
	if (!host || !guard_start(host, NULL, err) ||
	    host_find(host, argv[2], &domain, err) < 0)
		return -1;
	prctl(PR_SET_TIMERSLACK, 1); /* as in `uniprof record` */
	if (strcmp(argv[1], "pauses") == 0 && argc == 7) {
		table = program_table_read(argv[6], err);
		if (!table)
			return -1;
		argc = 6;
	}
	if (strcmp(argv[1], "pauses") == 0 && argc == 6)
		return bench_pauses(host, &domain, number, strtoul(argv[4], NULL, 10),
				    argv[5], table, err);
	if (strcmp(argv[1], "rates") == 0 && argc == 5)
		return bench_rates(host, &domain, number, argv[4], err);
	if (strcmp(argv[1], "command") == 0)
		return bench_command(host, &domain, number, argv + 4, err);
	return 1;
}

int main(int argc, char **argv)
{
	struct error err;
	int status = bench_run(argc, argv, &err);

	if (status > 0) {
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	if (status < 0)
		fprintf(stderr, "bench: %s\n", err.text);
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}
