/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/checks/ends.h"

#include <stdlib.h>

#include "base/chain.h"
#include "symbols/starts.h"

/* Whether a program or thread starts at @node: 1 or 0; -1 if out of memory. */
static int is_start(const struct stacks *stacks, struct frames *frames, uint32_t node,
		    enum frame_use use)
{
	uint32_t number = frames_find(frames, stacks->domain[node],
				      stacks->tree.nodes[node].key, use);
	const struct frame *frame;
	uint32_t function;

	if (number == FRAMES_NONE)
		return -1;
	frame = frames_get(frames, number);
	function = frames_function_at(frames, frame, frame->function_count - 1);
	return frames_function_known(frames, function) &&
	       symbols_is_start(frames_function_name(frames, function));
}

/* Counts @samples, whose chains are recorded to end as @root says and have the outermost
 * address @node, as whole if a program or thread starts there. -1 if out of memory. */
static int judge(uint64_t ends[SAMPLES_ROOTS], uint32_t root, uint64_t samples,
		 const struct stacks *stacks, struct frames *frames, uint32_t node,
		 enum frame_use use)
{
	int whole = samples ? is_start(stacks, frames, node, use) : 0;

	if (whole > 0) {
		ends[root] -= samples;
		ends[CHAIN_WHOLE] += samples;
	}
	return whole < 0 ? -1 : 0;
}

int ends_count(uint64_t ends[SAMPLES_ROOTS], const struct stacks *stacks,
	       struct frames *frames)
{
	uint64_t *inclusive = stacks_inclusive(stacks);
	const struct tree_node *nodes = stacks->tree.nodes;
	int status = inclusive ? 0 : -1;

	for (uint32_t i = 0; i < SAMPLES_ROOTS && status == 0; i++)
		ends[i] = inclusive[i];
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		uint32_t domain = nodes[i].parent, root = nodes[domain].parent;
		uint64_t leaves = stacks->self[i];

		if (root >= SAMPLES_ROOTS || root == CHAIN_WHOLE ||
		    !stacks_is_address(stacks, i))
			continue;
		status = judge(ends, root, leaves, stacks, frames, i, FRAME_LEAF);
		if (status == 0)
			status = judge(ends, root, inclusive[i] - leaves, stacks, frames,
				       i, FRAME_CALLER);
	}
	free(inclusive);
	return status;
}

uint64_t ends_cut(const uint64_t ends[SAMPLES_ROOTS])
{
	uint64_t cut = 0;

	for (unsigned int i = 0; i < SAMPLES_ROOTS; i++)
		cut += chain_end_is_cut(i) ? ends[i] : 0;
	return cut;
}
