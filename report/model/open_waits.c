/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/open_waits.h"

#include <stdlib.h>

#include "base/array.h"

struct open_wait {
	bool is_open;
	uint64_t from, to; /* ns; @to: it is known to have gone on until then */
	uint64_t counted;  /* of it, so far */
	uint32_t chain;	   /* TREE_NONE: it was dropped */
};

void open_waits_free(struct open_waits *waits)
{
	tree_free(&waits->index);
	free(waits->open);
	*waits = (struct open_waits){0};
}

/* Returns the wait of a thread; NULL if out of memory. */
static struct open_wait *find_wait(struct open_waits *waits, uint32_t domain,
				   uint64_t tid)
{
	uint32_t node;

	if (!waits->index.count && tree_init(&waits->index, 1) < 0)
		return NULL;
	node = tree_intern(&waits->index, 0, domain);
	if (node != TREE_NONE)
		node = tree_intern(&waits->index, node, tid);
	if (node == TREE_NONE)
		return NULL;
	if (node >= waits->room) {
		if (!array_grow_zeroed(&waits->open, waits->room, waits->index.capacity,
				       sizeof(*waits->open)))
			return NULL;
		waits->room = waits->index.capacity;
	}
	return &waits->open[node];
}

/* Ends a wait, and counts it instead of what was counted so far: 0 if it is counted
 * elsewhere. */
static void end_wait(struct open_wait *wait, struct measure *measure,
		     struct stacks *stacks, uint64_t count)
{
	bool is_dropped = wait->chain == TREE_NONE;

	wait->is_open = false;
	measure_remove(measure, wait->counted, is_dropped);
	if (is_dropped)
		return;
	stacks->self[wait->chain] -= wait->counted;
	stacks->self[wait->chain] += measure_add(measure, count);
}

int open_waits_follow(struct open_waits *waits, struct measure *measure,
		      struct stacks *stacks, const struct waits_batch *batch)
{
	const struct samples_batch *samples = &batch->samples;

	for (size_t i = 0; i < samples->count; i++) {
		const struct recording_process *thread =
			&samples->processes[samples->process[i]];
		uint64_t from = samples->time[i];
		struct open_wait *wait = find_wait(waits, samples->domain[i],
						   thread->tid);

		if (!wait)
			return -1;
		if (wait->is_open)
			end_wait(wait, measure, stacks,
				 wait->from == from
					 ? 0
					 : measure_wait(measure, wait->from, wait->to));
		if (!batch->is_over[i] && measure->chosen[i])
			*wait = (struct open_wait){
				.is_open = true,
				.from = from,
				.to = batch->to[i],
				.counted = 1,
				.chain = stacks->chains[i],
			};
	}
	return 0;
}

void open_waits_end(struct open_waits *waits, struct measure *measure,
		    struct stacks *stacks, uint64_t until)
{
	for (uint32_t i = 0; i < waits->room; i++) {
		struct open_wait *wait = &waits->open[i];

		if (wait->is_open)
			end_wait(wait, measure, stacks,
				 measure_wait(measure, wait->from, until));
	}
	open_waits_free(waits);
}
