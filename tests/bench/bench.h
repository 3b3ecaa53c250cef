/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_BENCH_BENCH_H
#define UNIPROF_TESTS_BENCH_BENCH_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "guest/host.h"
#include "tables/program_table.h"

/* Time spans, all of which are kept, ns. */
struct series {
	const char *name;
	uint64_t *ns;
	size_t count, capacity;
};

int series_new(struct series *series, const char *name, size_t capacity,
	       struct error *err);
void series_free(struct series *series);
/* @count must be below @capacity. */
void series_add(struct series *series, uint64_t ns);
/* Prints a line: name, count, median, 99th percentile, maximum, number of spans longer
 * than ten medians, and the longest (at most SERIES_LONGEST), longest first. Sorts the
 * spans. */
#define SERIES_LONGEST 30
void series_print(struct series *series);

/*
 * The measurements. Each prints lines of words, which tests/bench/table reads, and
 * returns 0, or -1 with @err set.
 */

/* The pauses of @samples samples in each of the three ways, alternating. All ways restart
 * after @restart samples; 0: never. The way of `uniprof record` unwinds by @table; NULL:
 * by frame pointers. */
int bench_pauses(struct host *host, const struct guest_info *domain, size_t samples,
		 size_t restart, const char *text, const struct program_table *table,
		 struct error *err);

/* The rates without a wait, and the cost of a sample at a usual rate, each measured for
 * @ms milliseconds at a time. */
int bench_rates(struct host *host, const struct guest_info *domain, uint64_t ms,
		const char *text, struct error *err);

/* The run times of a command, and for how long vCPU 0 did not run meanwhile. */
int bench_command(struct host *host, const struct guest_info *domain, size_t runs,
		  char **argv, struct error *err);

#endif
