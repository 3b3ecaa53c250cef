/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_LAYOUT_H
#define UNIPROF_KVM_MEMORY_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/common.h"
#include "kvm/proc.h"

/*
 * Where a guest's memory is in its VMM. Only KVM and the VMM know. What other programs
 * see are the VMM's mappings: the largest is usually the guest's memory, and VMMs put it
 * at guest-physical address 0, with a gap below 4 GiB for devices; the part that does not
 * fit below the gap is at 4 GiB. So there are some candidates, and the guest's own page
 * tables show which one is right (kvm/memory/trial.h). If they use only memory that
 * several candidates have at one place, what is known of the VMM decides.
 */

#define LAYOUT_REGIONS	  2
#define LAYOUT_CANDIDATES 128

/* A piece of guest memory. */
struct region {
	uint64_t guest;	  /* guest-physical address */
	uint64_t size;	  /* bytes */
	uint64_t address; /* in the VMM */
};

struct layout {
	struct region region[LAYOUT_REGIONS];
	unsigned int count;
};

/* A guest frame number is at most 52 - 12 bits long (Intel SDM, volume 3,
 * section 4.1.4). */
#define FRAME_MAX (1ull << 40)

/* Returns the index of the region with the guest's page @frame; layout->count if there is
 * none. */
static inline unsigned int layout_region(const struct layout *layout, uint64_t frame)
{
	unsigned int i = 0;

	if (frame >= FRAME_MAX)
		return layout->count;
	while (i < layout->count &&
	       (frame << GUEST_PAGE_SHIFT) - layout->region[i].guest >=
		       layout->region[i].size)
		i++;
	return i;
}

/* Returns the address, in the VMM, of the page @frame, which is in the region. */
static inline uint64_t region_address(const struct region *region, uint64_t frame)
{
	return region->address + ((frame << GUEST_PAGE_SHIFT) - region->guest);
}

/* Where a VMM splits memory. */
struct layout_split {
	uint64_t whole; /* size from which memory is split, bytes */
	uint64_t low;	/* size of the part below the gap, bytes */
};

/*
 * Fills @layouts, which holds LAYOUT_CANDIDATES, from a VMM's mappings, and returns their
 * number. The layouts that the VMM's @split makes, if it is not NULL, come first, as they
 * are the most likely.
 */
size_t layout_candidates(const struct proc_map *maps, size_t count,
			 const struct layout_split *split, struct layout *layouts);

/* Returns the size of a VMM's guest memory, bytes: of the largest mapping that may be
 * guest memory, and of others that are too large to be anything else. 0 if there is none.
 */
uint64_t layout_memory(const struct proc_map *maps, size_t count);

#endif
