/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/processes.h"

#include <stdlib.h>

#include "base/array.h"

void processes_free(struct processes *processes)
{
	tree_free(&processes->index);
	free(processes->domain);
	*processes = (struct processes){0};
}

/* The node of an address space; TREE_NONE if out of memory. */
static uint32_t find(struct processes *processes, uint32_t domain, uint64_t space)
{
	uint32_t node;

	if (!processes->index.count && tree_init(&processes->index, 1) < 0)
		return TREE_NONE;
	node = tree_intern(&processes->index, 0, domain);
	if (node != TREE_NONE)
		node = tree_intern(&processes->index, node, space);
	if (node == TREE_NONE || node < processes->room)
		return node;
	if (!array_grow_zeroed(&processes->domain, processes->room,
			       processes->index.capacity, sizeof(*processes->domain)))
		return TREE_NONE;
	processes->room = processes->index.capacity;
	return node;
}

/* Sets @domain to that of its process; -1 if out of memory. */
static int split(struct processes *processes, struct summary *summary, uint32_t *domain,
		 uint64_t space)
{
	uint32_t node = find(processes, *domain, space), *known;

	if (node == TREE_NONE)
		return -1;
	known = &processes->domain[node];
	if (!*known) {
		uint32_t index = *domain;

		if (summary->process_count == SUMMARY_PROCESSES)
			processes->is_full = true;
		else if (summary_add_process(summary, *domain, space, &index) < 0)
			return -1;
		*known = index + 1;
	}
	*domain = *known - 1;
	return 0;
}

int processes_split(struct processes *processes, struct summary *summary,
		    struct samples_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t space = batch->spaces[batch->space[i]];

		if (space && summary_domain(summary, batch->domain[i]) &&
		    split(processes, summary, &batch->domain[i], space) < 0)
			return -1;
	}
	return 0;
}
