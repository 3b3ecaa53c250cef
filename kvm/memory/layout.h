/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_MEMORY_LAYOUT_H
#define UNIPROF_KVM_MEMORY_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "arch/common.h"
#include "kvm/bpf/kernel.h"
#include "kvm/proc.h"

/*
 * Where a guest's memory is in its VMM. KVM knows (layout_of_slots()). If it can't be
 * asked, what other programs see are the VMM's mappings: the largest is usually the
 * guest's memory, and VMMs put it at guest-physical address 0, with a gap below 4 GiB for
 * devices; the part that does not fit below the gap is at 4 GiB. Mappings of one size may
 * be parts of it, one after another. So there are some candidates, and the guest's own
 * page tables show which one is right (kvm/memory/trial.h). If they use only memory that
 * several candidates have at one place, what is known of the VMM decides.
 */

#define LAYOUT_REGIONS	  KERNEL_SLOTS_MAX
#define LAYOUT_CANDIDATES 192

/* A piece of guest memory. */
struct region {
	uint64_t guest;	  /* guest-physical address */
	uint64_t size;	  /* bytes */
	uint64_t address; /* in the VMM */
};

/* Regions are sorted by their guest-physical addresses, and don't overlap. */
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
	unsigned int low = 0, high = layout->count;
	uint64_t address = frame << GUEST_PAGE_SHIFT;

	while (low < high && frame < FRAME_MAX) {
		unsigned int middle = low + (high - low) / 2;
		const struct region *region = &layout->region[middle];

		if (address < region->guest)
			high = middle;
		else if (address - region->guest < region->size)
			return middle;
		else
			low = middle + 1;
	}
	return layout->count;
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

/*
 * Sets @layout to what KVM's memory slots are, without those that are empty, damaged, or,
 * by the VMM's mappings @maps, a device's memory: reading that could change the device's
 * state.
 */
void layout_of_slots(const struct kernel_slots *slots, const struct proc_map *maps,
		     size_t count, struct layout *layout);

/* Returns the size of a VMM's guest memory, bytes: of the largest mapping that may be
 * guest memory, and of others that are too large to be anything else. 0 if there is none.
 */
uint64_t layout_memory(const struct proc_map *maps, size_t count);

#endif
