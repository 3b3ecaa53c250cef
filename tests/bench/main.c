/* SPDX-License-Identifier: BSD-3-Clause */
/* What a sample costs a guest; in dom0. See bench.h for what each of these measures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/usage.h"
#include "tests/bench/bench.h"

static const char help[] = "Usage: bench pauses DOMAIN SAMPLES RESTART TEXTFILE\n"
			   "       bench rates DOMAIN MILLISECONDS TEXTFILE\n"
			   "       bench command DOMAIN RUNS COMMAND [ARGUMENT]...\n";

/* -1 on failure, 1 on wrong usage. */
static int run(int argc, char **argv, struct error *err)
{
	struct xen_domain domain;
	size_t number;
	struct xen *xen;

	if (argc < 5)
		return 1;
	number = strtoul(argv[3], NULL, 10);
	xen = xen_open(err);
	if (!xen || xen_domain_find(xen, argv[2], &domain, err) < 0)
		return -1;
	prctl(PR_SET_TIMERSLACK, 1); /* as `uniprof record` has it */
	if (strcmp(argv[1], "pauses") == 0 && argc == 6)
		return bench_pauses(xen, &domain, number, strtoul(argv[4], NULL, 10),
				    argv[5], err);
	if (strcmp(argv[1], "rates") == 0 && argc == 5)
		return bench_rates(xen, &domain, number, argv[4], err);
	if (strcmp(argv[1], "command") == 0)
		return bench_command(xen, &domain, number, argv + 4, err);
	return 1;
}

int main(int argc, char **argv)
{
	struct error err;
	int status = run(argc, argv, &err);

	if (status > 0) {
		fputs(help, stderr);
		return EXIT_USAGE;
	}
	if (status < 0)
		fprintf(stderr, "bench: %s\n", err.text);
	return status < 0 ? EXIT_FAILED : EXIT_DONE;
}
