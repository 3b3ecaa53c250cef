/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_XEN_PAUSE_H
#define UNIPROF_XEN_PAUSE_H

#include "xen/hypercall.h"
#include "xen/internal.h"
#include "xen/left.h"

/* Xen's maximum number of vCPUs (MAX_VIRT_CPUS, xen/include/asm-x86/domain.h). */
#define PAUSE_VCPUS_MAX 8192

/* Maximum number of vCPUs that the multicall of a pause observes first: it takes time in
 * which vCPUs start and stop. */
#define PAUSE_OBSERVED_MAX 64

/*
 * The current pause, of at most one domain, in memory shared with the guard. Xen itself
 * writes the results of a multicall's entries. The recorder holds a domain paused exactly
 * while entry[0] has the result 0 and @resume has none.
 */
struct pause {
	struct hypercall_memory memory;
	/* the pause, then up to PAUSE_VCPUS_MAX contexts; PAUSE_OBSERVED_MAX entries
	 * before it are free for calls that are made first */
	multicall_entry_t *entry;
	multicall_entry_t *resume; /* the call that ends the pause */
	struct xen_domctl *resume_domctl;
	uint64_t *since;   /* when the pause began, ns, monotonic */
	struct left *left; /* the note for later recorders; NULL: could not be created */
};

/* Domctls that are made as one multicall, in memory for hypercalls. */
struct batch {
	multicall_entry_t *entry;
	struct xen_domctl *domctl;
	unsigned int count;
};

/* Makes the calls from @first on: 0, or -errno. Xen may overwrite the entries: debug
 * builds do so on purpose (xen/common/multicall.c). */
int batch_call(struct xen *xen, const struct batch *batch, unsigned int first);

/* The result of a single call: 0, or -errno. */
static inline int batch_result(const struct batch *batch, unsigned int i)
{
	return (int)(long)batch->entry[i].result;
}

/* Prepares the next pause, of @domain, while nothing is paused. */
void pause_prepare(struct xen *xen, const struct left_domain *domain);

/* Clears the results of the pause and of the resume, just before entry[0] is called. */
void pause_begin(struct pause *pause);

/* Notes that Xen refused the pause. */
void pause_failed(struct pause *pause);

/* Ends the pause: 0; 1 if the domain is gone; -1 if Xen refused. */
int pause_end(struct xen *xen, struct error *err);

/* Frees what xen_arm() allocated, if it was called. */
void pause_free(struct xen *xen);

#endif
