/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_PAGES_H
#define UNIPROF_XEN_PAGES_H

#include "arch/arch.h"
#include "xen/internal.h"

/*
 * A cache of a domain's pages, mapped read-only: mapping costs more than the rest of a
 * sample, reading mapped pages almost nothing. Mapped pages show the guest's changes as
 * they happen; a page that was ballooned out is released after some seconds.
 */
struct pages;

/* Allocates all memory that is ever needed. If Xen's library and the kernel support it,
 * the handle that is opened is restricted to this domain's memory. NULL with the reason
 * in @err on failure. */
struct pages *pages_new(struct xen *xen, uint32_t domain, struct error *err);
/* Unmaps all pages: until then, a destroyed domain remains as a zombie. */
void pages_free(struct pages *pages);

/* The functions below that take a void * are functions of struct guest_ops. */

/*
 * Starts a round at time @now (ns, monotonic). If little space is left, or some seconds
 * after the last time, all pages expire; each call unmaps some expired pages. Pages
 * that could not be mapped are tried again after a second. This round makes at most
 * @map_calls map calls, so that a guest that uses other pages each time can't make a
 * round longer.
 */
void pages_begin(void *pages, uint64_t now, unsigned int map_calls);

/* For use while the domain is paused: only looks up a page, and counts misses. A callback
 * of struct guest_memory. */
const void *pages_get(void *pages, uint64_t frame);

/* For use while the domain runs: maps the page and its neighbours unless they are mapped.
 * A callback of struct guest_memory. */
const void *pages_map(void *pages, uint64_t frame);

/* Whether, since the last call, pages_get() missed a page that may exist and may be
 * mapped in this round. */
bool pages_missed(void *pages);

/* Returns the total number of pages that may exist and that pages_get() missed. */
uint64_t pages_misses(const void *pages);

/* The total number of map calls. */
uint64_t pages_map_calls(const struct pages *pages);

#endif
