/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/old_waits.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void old_waits_free(struct old_waits *waits)
{
	for (uint32_t i = 0; i < waits->room; i++)
		free(waits->list[i].chain.address);
	free(waits->list);
	free(waits->goes_on);
	tree_free(&waits->index);
	*waits = (struct old_waits){0};
}

static int make_room(struct old_waits *waits)
{
	uint32_t room = waits->index.capacity;

	if (room <= waits->room)
		return 0;
	if (!array_grow_zeroed(&waits->list, waits->room, room, sizeof(*waits->list)) ||
	    !array_grow_zeroed(&waits->goes_on, waits->room, room,
			       sizeof(*waits->goes_on)))
		return -1;
	waits->room = room;
	return 0;
}

/* Sets the wait of a thread, which replaces an earlier one. -1 if out of memory. */
static int set_wait(struct old_waits *waits, const struct wait *wait)
{
	size_t size = wait->chain.count * sizeof(*wait->chain.address);
	uint32_t node = tree_intern(&waits->index, 0, wait->domain);
	uint64_t *address;

	if (node != TREE_NONE)
		node = tree_intern(&waits->index, node, wait->process.tid);
	if (node == TREE_NONE || make_room(waits) < 0)
		return -1;
	waits->goes_on[node] = !wait->is_over;
	if (wait->is_over)
		return 0;
	address = malloc(size + 1);
	if (!address)
		return -1;
	memcpy(address, wait->chain.address, size);
	free(waits->list[node].chain.address);
	waits->list[node] = *wait;
	waits->list[node].chain.address = address;
	return 0;
}

int old_waits_add(struct old_waits *waits, const struct waits_batch *batch)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	if (!waits->index.count && tree_init(&waits->index, 1) < 0)
		return -1;
	waits_counts_add(&waits->counts, &batch->counts);
	for (size_t i = 0; i < batch->samples.count; i++) {
		const struct wait wait = waits_batch_wait(batch, i, address);

		if (set_wait(waits, &wait) < 0)
			return -1;
	}
	return 0;
}
