/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_BENCH_H
#define UNIPROF_TESTS_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "xen/xen.h"

/* Lengths of time in ns, of which all that came are kept. */
struct series {
	const char *name;
	uint64_t *ns;
	size_t count, capacity;
};

int series_new(struct series *series, const char *name, size_t capacity,
	       struct error *err);
void series_free(struct series *series);
/* There has to be room. */
void series_add(struct series *series, uint64_t ns);
/* A line: name, count, median, 99th per cent, maximum, how many are longer than ten
 * medians, and the longest (SERIES_LONGEST at most), the longest of all first. Sorts the
 * lengths. */
#define SERIES_LONGEST 30
void series_print(struct series *series);

/*
 * What can be measured. Each prints lines of words, which tests/bench/table reads, and
 * returns 0, or -1 and why not.
 */

/* The pauses of @samples samples in each of the three ways, in turns. All begin anew
 * after @restart samples, 0 for never. */
int bench_pauses(struct xen *xen, const struct xen_domain *domain, size_t samples,
		 size_t restart, const char *text, struct error *err);

/* The highest rates that are held for @ms milliseconds. */
int bench_rates(struct xen *xen, const struct xen_domain *domain, uint64_t ms,
		const char *text, struct error *err);

/* How long a command takes, and for how much of that vCPU 0 did not run. */
int bench_command(struct xen *xen, const struct xen_domain *domain, size_t runs,
		  char **argv, struct error *err);

#endif
