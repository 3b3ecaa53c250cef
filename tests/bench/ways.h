/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_BENCH_WAYS_H
#define UNIPROF_TESTS_BENCH_WAYS_H

#include <stdint.h>

#include "guest/host.h"
#include "record/sampler.h"

/*
 * Three ways of taking a sample of a domain. Times are in ns; a pause is measured from
 * before its request until the resumption has returned. The functions NAME_new() return
 * NULL with @err set on failure.
 */

/*
 * The floor: the minimum of hypercalls, and nothing else. One multicall of the pause and
 * the contexts, then the resumption.
 */
struct floor;

struct floor *floor_new(struct host *host, const struct guest_info *domain,
			struct error *err);
void floor_free(struct floor *way);
uint64_t floor_sample(struct floor *way);

/*
 * The way of the 2017 uniprof, from its published description: three calls; for each page
 * of the stack that is not yet in a list kept by virtual address, a page walk that maps
 * and unmaps a page for every level, and then maps the page; the trace as text, written
 * while the guest is paused.
 */
struct first;

struct first *first_new(struct host *host, const struct guest_info *domain,
			const char *text, struct error *err);
void first_free(struct first *way);
/* @depth, if not NULL, is set to the number of addresses in vCPU 0's chain. */
uint64_t first_sample(struct first *way, unsigned int *depth);

/*
 * The way of `uniprof record`: everything except the waiting is its own code, including
 * its guard and writer thread; the recording goes to /dev/null.
 */
struct current;

/* Unwinds by @table from the first sample on, which checks it; NULL: none. */
struct current *current_new(struct host *host, const struct guest_info *domain,
			    const struct program_table *table, struct error *err);
void current_free(struct current *way);
/* Takes a sample. @whole, if not NULL, is set to the time of the whole sample with its
 * pauses. -1 with @err set on failure. */
int current_sample(struct current *way, struct round *round, uint64_t *whole,
		   struct error *err);

/* Looks at the domain's vCPUs, as `uniprof record` does before a pause. @cpu_time, if not
 * NULL, is set to the running time of vCPU 0. -1 with @err set on failure. */
int current_look(struct current *way, uint64_t *cpu_time, struct error *err);

/* Returns the total number of map calls made while the domain was paused. */
uint64_t current_maps_in_pause(void);

#endif
