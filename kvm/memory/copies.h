/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_COPIES_H
#define UNIPROF_KVM_MEMORY_COPIES_H

#include <stddef.h>

#include "kvm/memory/pages.h"

/*
 * Copies of pages of a VMM that is not stopped, or only for short times. Those of one
 * round show the memory at one time, or at the round's pause: there, all pages that were
 * looked at before it are copied again in one call. Pages that the last pause has looked
 * at are copied again likewise as soon as the next round needs one.
 */
struct copies;

/* Allocates all memory that is ever needed. @pages is used until copies_free(). NULL with
 * the reason in @err on failure. */
struct copies *copies_new(const struct vmm_pages *pages, struct error *err);
void copies_free(struct copies *copies);

/* Begins a round at time @now (ns, monotonic), in which at most @calls further pages are
 * copied. What was copied at the same @now is kept. */
void copies_begin(struct copies *copies, uint64_t now, unsigned int calls);

/* Prepares for a pause: all pages that this round has looked at will be copied again. */
void copies_prepare(struct copies *copies);

/* Forgets all pages: they are elsewhere from now on. */
void copies_forget(struct copies *copies);

enum copies_access {
	COPIES_RUNNING,	 /* the guest runs */
	COPIES_IN_PAUSE, /* it is paused; only some pages may be copied one by one */
};

/* Returns the copy of the guest's page @frame, which is at @address in the VMM. NULL if
 * it is not in memory, which sets @absent, or if it may not be copied any more. */
const void *copies_get(struct copies *copies, uint64_t frame, uint64_t address,
		       enum copies_access access, bool *absent);

/* Returns how often a page was not copied because it might not be, in total. */
uint64_t copies_misses(const struct copies *copies);

/* Whether further pages may be copied in this round. */
bool copies_have_room(const struct copies *copies);

#endif
