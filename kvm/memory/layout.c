/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/memory/layout.h"

#include <stdbool.h>
#include <stdlib.h>

/* Size below which a mapping is not taken for guest memory, bytes. */
#define LEAST (1u << 20)

/* Size up to which a mapping beside a larger one is taken for the VMM's own, bytes: an
 * arena of malloc(3), the stack of a thread. */
#define VMM_MOST (64u << 20)

/* Number of the largest mappings that are considered. */
#define BLOCKS 8

/* Guest-physical address of the memory above the gap. */
#define ABOVE (1ull << 32)

/*
 * Possible starts of the gap for devices: QEMU's q35 and its pc machine
 * (hw/i386/pc_q35.c, pc_piix.c), which depend on the size; microvm and Cloud Hypervisor
 * at 3 GiB; Firecracker, crosvm and kvmtool at 3.25 GiB.
 */
static const uint64_t gaps[] = {0x80000000, 0xc0000000, 0xd0000000, 0xe0000000};

/* Size of memory, in bytes, below which q35 has no gap (pc_q35.c). */
#define Q35_WHOLE 0xb0000000

struct found {
	struct layout *layouts;
	size_t count;
};

/* Adds a layout, unless there is no room; @high_size is 0 if nothing is above the gap. */
static void found_add(struct found *found, uint64_t low, uint64_t low_size, uint64_t high,
		      uint64_t high_size)
{
	struct layout *layout = &found->layouts[found->count];

	if (found->count == LAYOUT_CANDIDATES)
		return;
	layout->region[0] = (struct region){0, low_size, low};
	layout->count = 1;
	if (high_size)
		layout->region[layout->count++] = (struct region){ABOVE, high_size, high};
	found->count++;
}

static bool may_be_memory(const struct proc_map *map)
{
	/* Code that a VMM makes at run time is not guest memory. */
	return map->readable && map->writable && !map->executable && !map->is_device &&
	       map->end - map->start >= LEAST;
}

/* Finds the largest mappings, largest first, and returns their number. */
static size_t find_blocks(const struct proc_map *maps, size_t count,
			  const struct proc_map **blocks)
{
	size_t known = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t size = maps[i].end - maps[i].start;
		size_t at = known;

		if (!may_be_memory(&maps[i]))
			continue;
		while (at && blocks[at - 1]->end - blocks[at - 1]->start < size)
			at--;
		if (at == BLOCKS)
			continue;
		known += known < BLOCKS;
		for (size_t k = known - 1; k > at; k--)
			blocks[k] = blocks[k - 1];
		blocks[at] = &maps[i];
	}
	return known;
}

/* Adds the layouts of one mapping with all memory, cut at a gap. The kernel may have
 * joined the mappings of both parts into one; it maps downwards, so that the upper part
 * is first.
 */
static void add_cut(struct found *found, uint64_t start, uint64_t size, uint64_t low)
{
	if (size <= low)
		return;
	found_add(found, start, low, start + low, size - low);
	found_add(found, start + size - low, low, start, size - low);
}

static void add_split(struct found *found, uint64_t start, uint64_t size,
		      const struct layout_split *split)
{
	if (split && size < split->whole)
		found_add(found, start, size, 0, 0);
	else if (split)
		add_cut(found, start, size, split->low);
}

/* Adds the layouts with separate mappings below and above the gap. */
static void add_pairs(struct found *found, const struct proc_map *low,
		      const struct proc_map *const *blocks, size_t count)
{
	uint64_t size = low->end - low->start;
	bool is_full = false;

	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++)
		is_full |= size == gaps[i];
	for (size_t i = 0; i < count && is_full; i++)
		if (blocks[i] != low)
			found_add(found, low->start, size, blocks[i]->start,
				  blocks[i]->end - blocks[i]->start);
}

/* Adds to the layout what is next in the guest's memory, cut at @low, from where on it is
 * above the gap. @guest: the size so far. */
static void append_part(struct layout *layout, uint64_t guest, uint64_t size,
			uint64_t address, uint64_t low)
{
	uint64_t below = guest >= low ? 0 : low - guest < size ? low - guest : size;

	if (below)
		layout->region[layout->count++] = (struct region){guest, below, address};
	if (below < size)
		layout->region[layout->count++] = (struct region){
			ABOVE + guest + below - low, size - below, address + below};
}

/* Adds the layout of @count mappings of one size, one after another: the cells of a NUMA
 * machine, memory that was added later. Blocks of one size are in the order of their
 * addresses; the kernel maps downwards, so that the last one is usually the first. */
static void add_cells(struct found *found, const struct proc_map *const *blocks,
		      size_t count, uint64_t low, bool is_upwards)
{
	uint64_t size = blocks[0]->end - blocks[0]->start;
	struct layout *layout = &found->layouts[found->count];

	if (found->count == LAYOUT_CANDIDATES)
		return;
	layout->count = 0;
	for (size_t i = 0; i < count; i++)
		append_part(layout, i * size, size,
			    blocks[is_upwards ? i : count - 1 - i]->start, low);
	found->count++;
}

/* Adds the layouts of all mappings of one size. */
static void add_all_cells(struct found *found, const struct proc_map *const *blocks,
			  size_t known, const struct layout_split *split)
{
	for (size_t i = 0, same; i < known; i += same) {
		uint64_t size = blocks[i]->end - blocks[i]->start;

		for (same = 1; i + same < known &&
			       blocks[i + same]->end - blocks[i + same]->start == size;)
			same++;
		for (size_t n = 2; n <= same; n++) {
			bool is_split = split && n * size >= split->whole;
			uint64_t low = is_split ? split->low : ABOVE;

			add_cells(found, blocks + i + same - n, n, low, false);
			add_cells(found, blocks + i, n, low, true);
		}
	}
}

size_t layout_candidates(const struct proc_map *maps, size_t count,
			 const struct layout_split *split, struct layout *layouts)
{
	const struct proc_map *blocks[BLOCKS];
	size_t known = find_blocks(maps, count, blocks);
	struct found found = {.layouts = layouts};

	for (size_t i = 0; i < known; i++) {
		uint64_t start = blocks[i]->start, size = blocks[i]->end - start;

		add_split(&found, start, size, split);
		if (size < Q35_WHOLE)
			found_add(&found, start, size, 0, 0);
		add_pairs(&found, blocks[i], blocks, known);
		for (size_t k = 0; k < sizeof(gaps) / sizeof(*gaps); k++)
			add_cut(&found, start, size, gaps[k]);
		if (size >= Q35_WHOLE && size <= gaps[3])
			found_add(&found, start, size, 0, 0);
	}
	add_all_cells(&found, blocks, known, split);
	return found.count;
}

static int compare_regions(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	return (x->guest > y->guest) - (x->guest < y->guest);
}

/* Whether the mapping that contains the address is a device's. */
static bool is_device_at(const struct proc_map *maps, size_t count, uint64_t address)
{
	for (size_t i = 0; i < count; i++)
		if (maps[i].start <= address && address < maps[i].end)
			return maps[i].is_device;
	return false;
}

void layout_of_slots(const struct kernel_slots *slots, const struct proc_map *maps,
		     size_t count, struct layout *layout)
{
	layout->count = 0;
	for (uint64_t i = 0; i < slots->count && i < LAYOUT_REGIONS; i++) {
		const struct kernel_slot *slot = &slots->slot[i];
		uint64_t size = slot->pages << GUEST_PAGE_SHIFT;

		if (!slot->pages || slot->pages > FRAME_MAX ||
		    slot->frame > FRAME_MAX - slot->pages ||
		    slot->address + size < slot->address ||
		    is_device_at(maps, count, slot->address))
			continue;
		layout->region[layout->count++] = (struct region){
			slot->frame << GUEST_PAGE_SHIFT, size, slot->address};
	}
	qsort(layout->region, layout->count, sizeof(layout->region[0]), compare_regions);
}

uint64_t layout_memory(const struct proc_map *maps, size_t count)
{
	uint64_t most = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		if (may_be_memory(&maps[i]) && maps[i].end - maps[i].start > most)
			most = maps[i].end - maps[i].start;
	for (size_t i = 0; i < count; i++) {
		uint64_t size = maps[i].end - maps[i].start;

		if (may_be_memory(&maps[i]) && (size > VMM_MOST || size >= most / 2))
			sum += size;
	}
	return sum;
}
