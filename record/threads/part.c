/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/part.h"

#include "record/learning/learning.h"

/* Limit of map calls for the chains of a part */
#define CHAIN_MAPS (PART_CHAINS * 48)

/* Begins to read chains. */
static struct unwind_input begin_chains(struct learning *learning)
{
	const struct unwind_input input = learning_input(learning,
							 learning->guest->ops->map_page);

	code_notes_renew(input.notes);
	thread_begin_pages(learning, CHAIN_MAPS);
	return input;
}

static void read_chains(struct part *part, struct learning *learning)
{
	const struct unwind_input input = begin_chains(learning);

	for (unsigned int i = 0; i < part->candidates; i++) {
		struct candidate *candidate = &part->candidate[i];

		candidate->chain.address = part->address[i];
		candidate->is_read = thread_read_wait(&part->view, &candidate->thread,
						      &candidate->wait);
		if (candidate->is_read)
			thread_unwind(&candidate->wait, &input, &candidate->chain);
	}
}

/* Keeps the candidates whose chains do not change. */
static void keep_unchanged(struct part *part, struct learning *learning)
{
	const struct unwind_input input = begin_chains(learning);
	unsigned int kept = 0;

	for (unsigned int i = 0; i < part->candidates; i++) {
		const struct candidate *candidate = &part->candidate[i];

		if (!candidate->is_read ||
		    thread_chain_holds(&part->view, &candidate->thread, &input,
				       &candidate->chain))
			part->candidate[kept++] = *candidate;
	}
	part->candidates = kept;
}

/* Keeps the candidates that are in the moment in which they were looked at. */
static void keep_still(struct part *part, const struct learning *learning)
{
	unsigned int kept = 0;

	thread_begin_pages(learning, PART_CHAINS * THREAD_PAGES);
	for (unsigned int i = 0; i < part->candidates; i++) {
		const struct candidate *candidate = &part->candidate[i];
		struct thread_moment moment;

		if (thread_read_moment(&part->view, candidate->thread.task, &moment) &&
		    thread_is_same(&candidate->thread.moment, &moment))
			part->candidate[kept++] = *candidate;
	}
	part->candidates = kept;
}

unsigned int part_read(struct part *part, struct learning *learning)
{
	unsigned int count = part->candidates;

	read_chains(part, learning);
	if (!thread_view_counts(&part->view))
		keep_unchanged(part, learning);
	keep_still(part, learning);
	/* Copies of pages that tell one moment may be from different times. */
	if (!learning->guest->ops->are_pages_live)
		keep_still(part, learning);
	return count - part->candidates;
}
