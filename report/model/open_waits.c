/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/open_waits.h"

#include <stdlib.h>

#include "base/array.h"

struct open_wait {
	bool is_open;
	uint64_t from, to; /* ns; @to: it is known to have gone on until then */
	uint64_t counted;  /* part of the wait counted so far */
	uint32_t chain;	   /* TREE_NONE: it was dropped */
	unsigned int state;
	struct recording_process thread;
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

/* Tells the listener of a wait that counts @count. */
static int tell_wait(const struct wait_listener *listener, const struct measure *measure,
		     const struct stacks *stacks, const struct open_wait *wait,
		     uint64_t count)
{
	struct counted_wait counted = {
		.from = wait->from,
		.to = wait->to,
		.domain = stacks->domain[wait->chain],
		.stack = wait->chain,
		.recording = listener->recording,
		.state = wait->state,
		.count = count,
		.thread = &wait->thread,
	};

	if (!count || !listener->wait)
		return 0;
	measure_clip(measure, &counted.from, &counted.to);
	return listener->wait(listener->arg, &counted);
}

/* Takes an open wait out of the sums, and forgets it. */
static void drop_wait(struct open_wait *wait, struct measure *measure,
		      struct stacks *stacks, const struct wait_listener *listener)
{
	bool is_dropped = wait->chain == TREE_NONE;

	wait->is_open = false;
	measure_remove(measure, wait->counted, is_dropped);
	if (!is_dropped && !listener->is_beside)
		stacks->self[wait->chain] -= wait->counted;
}

/* Ends a wait, and counts it until then instead of what was counted so far. -1 if the
 * listener returns -1. */
static int end_wait(struct open_wait *wait, uint64_t to, struct measure *measure,
		    struct stacks *stacks, const struct wait_listener *listener)
{
	uint64_t count;

	drop_wait(wait, measure, stacks, listener);
	if (wait->chain == TREE_NONE)
		return 0;
	wait->to = to;
	count = measure_add(measure, measure_wait(measure, wait->from, to));
	if (!listener->is_beside)
		stacks->self[wait->chain] += count;
	return tell_wait(listener, measure, stacks, wait, count);
}

/* Takes note of a wait of the batch, after @before of its thread. */
static int follow_wait(struct open_wait *before, size_t i,
		       const struct waits_batch *batch, struct measure *measure,
		       struct stacks *stacks, const struct wait_listener *listener)
{
	const struct samples_batch *samples = &batch->samples;
	const struct open_wait wait = {
		.is_open = !batch->is_over[i],
		.from = samples->time[i],
		.to = batch->to[i],
		.counted = 1,
		.chain = stacks->chains[i],
		.state = samples->state[i],
		.thread = samples->processes[samples->process[i]],
	};

	/* The end of another wait is missing: it was over by now. */
	if (before->is_open && before->from != wait.from &&
	    end_wait(before, before->to, measure, stacks, listener) < 0)
		return -1;
	if (before->is_open)
		drop_wait(before, measure, stacks, listener);
	if (!measure->chosen[i])
		return 0;
	if (wait.is_open)
		*before = wait;
	else if (wait.chain != TREE_NONE)
		return tell_wait(listener, measure, stacks, &wait, measure->counts[i]);
	return 0;
}

int open_waits_follow(struct open_waits *waits, struct measure *measure,
		      struct stacks *stacks, const struct waits_batch *batch,
		      const struct wait_listener *listener)
{
	const struct samples_batch *samples = &batch->samples;

	for (size_t i = 0; i < samples->count; i++) {
		const struct recording_process *thread =
			&samples->processes[samples->process[i]];
		struct open_wait *wait = find_wait(waits, samples->domain[i],
						   thread->tid);

		if (!wait || follow_wait(wait, i, batch, measure, stacks, listener) < 0)
			return -1;
	}
	return 0;
}

int open_waits_end(struct open_waits *waits, struct measure *measure,
		   struct stacks *stacks, uint64_t until,
		   const struct wait_listener *listener)
{
	int status = 0;

	for (uint32_t i = 0; i < waits->room && status == 0; i++)
		if (waits->open[i].is_open)
			status = end_wait(&waits->open[i], until, measure, stacks,
					  listener);
	open_waits_free(waits);
	return status;
}
