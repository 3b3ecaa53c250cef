/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_PAGES_H
#define UNIPROF_XEN_PAGES_H

#include "arch/arch.h"
#include "xen/xen.h"

/*
 * Pages of a domain, mapped read-only and kept: mapping costs more than the
 * rest of a sample together, reading what is mapped next to nothing. Mapped
 * pages show the guest's changes as they happen; one that was ballooned out is
 * let go after some seconds.
 */
struct pages;

/* All memory that it needs is got here. Where Xen's library and the kernel can do
 * so, what it opens is good for this domain's memory alone. NULL, and why in @err,
 * on failure. */
struct pages *pages_new(struct xen *xen, uint32_t domain, struct error *err);
/* Unmaps all: until then, a domain that is destroyed stays as a zombie. */
void pages_free(struct pages *pages);

/*
 * Begins a round at time @now (ns, monotonic): makes room when there is not
 * much left, or all has been kept for long. What could not be mapped is tried again after
 * a second. In this round there are @map_calls at most: a guest whose pages are others
 * each time can't make a round longer.
 */
void pages_begin(struct pages *pages, uint64_t now, unsigned int map_calls);

/* For use while the domain is paused: only looks a page up, and remembers
 * when it was not there. A guest_memory callback, as is the next. */
const void *pages_get(void *pages, uint64_t frame);

/* For use while it runs: maps the page if need be, and its neighbours along. */
const void *pages_map(void *pages, uint64_t frame);

/* Whether pages_get() missed a page that could be worth mapping, and may be mapped in
 * this round, since this was last asked. */
bool pages_missed(struct pages *pages);

/* How many pages pages_get() ever missed that could be worth mapping. */
uint64_t pages_misses(const struct pages *pages);

/* How many map calls were made in all. */
uint64_t pages_map_calls(const struct pages *pages);

#endif
