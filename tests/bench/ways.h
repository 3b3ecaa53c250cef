/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_WAYS_H
#define UNIPROF_TESTS_WAYS_H

#include <stdint.h>

#include "record/sampler.h"
#include "xen/xen.h"

/*
 * Three ways of taking a sample of a domain. Lengths are in ns, a pause's from before it
 * is asked for until the resumption has returned. The functions that make one return
 * NULL, and why in @err, on failure.
 */

/*
 * The floor: the fewest hypercalls that there can be, with nothing else. One multicall of
 * the pause and the contexts, then the resumption.
 */
struct floor;

struct floor *floor_new(struct xen *xen, const struct xen_domain *domain,
			struct error *err);
void floor_free(struct floor *way);
uint64_t floor_sample(struct floor *way);

/*
 * The way of 2017's uniprof, after its published description: three calls; for each page
 * of the stack that is not yet in a list kept by virtual address, a page walk that maps
 * and unmaps a page for every level, and then maps the page; the trace as text, written
 * while the guest is paused.
 */
struct first;

struct first *first_new(struct xen *xen, const struct xen_domain *domain,
			const char *text, struct error *err);
void first_free(struct first *way);
/* In @depth, if not NULL, how many addresses vCPU 0's chain had. */
uint64_t first_sample(struct first *way, unsigned int *depth);

/*
 * The way of `uniprof record`: all but the waiting is what it runs, its guard and the
 * thread that writes included; what is written goes to /dev/null.
 */
struct current;

struct current *current_new(struct xen *xen, const struct xen_domain *domain,
			    struct error *err);
void current_free(struct current *way);
/* 0, or -1; @whole is how long all of it took, the pauses included. */
int current_sample(struct current *way, struct round *round, uint64_t *whole,
		   struct error *err);

/* Looks at the domain's vCPUs, as `uniprof record` does before a pause. 0, or -1; in
 * @cpu_time, if not NULL, for how long vCPU 0 has run. */
int current_look(struct current *way, uint64_t *cpu_time, struct error *err);

/* How many map calls all of them together made while they held the domain paused. */
uint64_t current_maps_in_pause(void);

#endif
