/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/stacks.h"

#include <stdlib.h>
#include <string.h>

static int make_counters(struct stacks *stacks)
{
	uint32_t capacity = stacks->tree.capacity;
	uint64_t *self;

	if (stacks->self_capacity >= stacks->tree.count)
		return 0;
	self = realloc(stacks->self, capacity * sizeof(*self));
	if (!self)
		return -1;
	memset(self + stacks->self_capacity, 0,
	       (capacity - stacks->self_capacity) * sizeof(*self));
	stacks->self = self;
	stacks->self_capacity = capacity;
	return 0;
}

struct stacks *stacks_new(void)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));

	if (!stacks)
		return NULL;
	if (tree_init(&stacks->tree, SAMPLES_ROOTS) < 0 || make_counters(stacks) < 0) {
		stacks_free(stacks);
		return NULL;
	}
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	tree_free(&stacks->tree);
	free(stacks->self);
	free(stacks->map);
	free(stacks);
}

/* Makes map[] say which of the tree's nodes each node of the chunk is. */
static int map_nodes(struct stacks *stacks, const struct samples_batch *batch)
{
	if (batch->nodes > stacks->map_capacity) {
		uint32_t *map = realloc(stacks->map, batch->nodes * sizeof(*map));

		if (!map)
			return -1;
		stacks->map = map;
		stacks->map_capacity = batch->nodes;
	}
	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++)
		stacks->map[i] = i;
	for (size_t i = SAMPLES_ROOTS; i < batch->nodes; i++) {
		uint32_t node = tree_intern(&stacks->tree, stacks->map[batch->parent[i]],
					    batch->address[i]);

		if (node == TREE_NONE)
			return -1;
		stacks->map[i] = node;
	}
	return 0;
}

int stacks_add(struct stacks *stacks, const struct samples_batch *batch)
{
	if (map_nodes(stacks, batch) < 0 || make_counters(stacks) < 0)
		return -1;
	for (size_t i = 0; i < batch->count; i++)
		stacks->self[stacks->map[batch->stack[i]]] += batch->weight[i];
	return 0;
}

uint64_t *stacks_inclusive(const struct stacks *stacks)
{
	uint32_t count = stacks->tree.count;
	uint64_t *inclusive = calloc(count, sizeof(*inclusive));

	if (!inclusive)
		return NULL;
	memcpy(inclusive, stacks->self, count * sizeof(*inclusive));
	for (uint32_t i = count; i-- > SAMPLES_ROOTS;)
		inclusive[stacks->tree.nodes[i].parent] += inclusive[i];
	return inclusive;
}
