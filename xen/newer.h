/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_NEWER_H
#define UNIPROF_XEN_NEWER_H

#include "xen/internal.h"
#include "xen/store.h"

/*
 * A domctl interface newer than the known ones may have other layouts, although most
 * versions changed none that uniprof uses (xen/version.c). So its answers are first
 * compared with each other, and with what xenstore and Xen's version say. All calls only
 * read; the target's first vCPU is stopped for a moment to read its registers.
 */

/* The newest interface known, and the newest release that has it (major << 16 | minor).
 */
#define DOMCTL_NEWEST  0x18
#define DOMCTL_RELEASE (4 << 16 | 22)

/* Xen's answers about a domain. */
struct newer_answers {
	/* The domain, before and after its vCPUs were queried. */
	struct xen_domctl_getdomaininfo before, after;
	uint32_t found;	 /* number of vCPUs that exist */
	uint32_t online; /* number of vCPUs that are online */
	uint64_t ran;	 /* CPU time of all vCPUs, ns */
	bool odd;	 /* a vCPU has a state that is neither 0 nor 1 */
};

/* Returns the first contradiction in Xen's answers about domain @id, for a message; NULL
 * if there is none. Values that @facts lack are not compared. */
const char *newer_misfit(uint32_t id, const struct newer_answers *answers,
			 const struct store_facts *facts);

/*
 * If xen->check_answers is set, checks the answers about domain @id; with 0, also that
 * Xen is newer than the releases whose domctls are known. -1 with the reason in @err if
 * they do not fit, or can't be compared because xenstore can't be read.
 */
int newer_check(struct xen *xen, uint32_t id, struct error *err);

#endif
