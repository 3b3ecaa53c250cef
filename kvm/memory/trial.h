/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_TRIAL_H
#define UNIPROF_KVM_MEMORY_TRIAL_H

#include "guest/guest.h"
#include "kvm/memory/layout.h"
#include "kvm/memory/pages.h"

/*
 * Tells by a guest's registers and page tables which of the possible layouts of its
 * memory is right.
 */

/* Returns the points of a layout: up to three for each vCPU whose registers were
 * captured. */
unsigned int trial_score(const struct layout *layout, const struct vmm_pages *pages,
			 const struct guest *guest);

/* Returns the most points that the captured vCPUs can give. */
unsigned int trial_full_score(const struct guest *guest);

/* Finds, by a VMM's mappings, the layout with the most points. False if none has more
 * than @least. */
bool trial_find(const struct vmm_pages *pages, const struct guest *guest,
		const struct proc_map *maps, size_t count, unsigned int least,
		struct layout *best);

#endif
