/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Makes room in the arrays by node, after the tree has grown. */
static int make_counters(struct stacks *stacks)
{
	uint32_t capacity = stacks->tree.capacity;

	if (stacks->capacity >= stacks->tree.count)
		return 0;
	if (!array_grow(&stacks->self, capacity, sizeof(*stacks->self)) ||
	    !array_grow(&stacks->domain, capacity, sizeof(*stacks->domain)))
		return -1;
	memset(stacks->self + stacks->capacity, 0,
	       (capacity - stacks->capacity) * sizeof(*stacks->self));
	stacks->capacity = capacity;
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
	stacks->filled = SAMPLES_ROOTS;
	return stacks;
}

void stacks_free(struct stacks *stacks)
{
	if (!stacks)
		return;
	tree_free(&stacks->tree);
	free(stacks->self);
	free(stacks->domain);
	free(stacks->chains);
	free(stacks->next);
	free(stacks->map);
	free(stacks->map_domain);
	free(stacks->heads);
	free(stacks);
}

/* Makes room for a chunk, with its nodes not yet mapped for any domain. */
static int make_room(struct stacks *stacks, const struct samples_batch *batch)
{
	if (batch->count > stacks->sample_capacity) {
		if (!array_grow(&stacks->chains, batch->count, sizeof(*stacks->chains)) ||
		    !array_grow(&stacks->next, batch->count, sizeof(*stacks->next)))
			return -1;
		stacks->sample_capacity = batch->count;
	}
	if (batch->nodes > stacks->map_capacity) {
		if (!array_grow(&stacks->map, batch->nodes, sizeof(*stacks->map)) ||
		    !array_grow(&stacks->map_domain, batch->nodes,
				sizeof(*stacks->map_domain)))
			return -1;
		stacks->map_capacity = batch->nodes;
	}
	memset(stacks->map_domain, 0xff, batch->nodes * sizeof(*stacks->map_domain));
	return 0;
}

/* Returns the domain's node for @node of the chunk; TREE_NONE if out of memory. */
static uint32_t map_node(struct stacks *stacks, const struct samples_batch *batch,
			 uint32_t domain, uint32_t node)
{
	uint32_t path[RECORDING_MAX_DEPTH + 1], depth = 0, mapped;

	while (stacks->map_domain[node] != domain) {
		path[depth++] = node;
		if (node < SAMPLES_ROOTS)
			break;
		node = batch->parent[node];
	}
	mapped = stacks->map[node];
	for (; depth > 0; depth--) {
		node = path[depth - 1];
		mapped = node < SAMPLES_ROOTS ? tree_intern(&stacks->tree, node, domain)
					      : tree_intern(&stacks->tree, mapped,
							    batch->address[node]);
		if (mapped == TREE_NONE)
			return TREE_NONE;
		stacks->map[node] = mapped;
		stacks->map_domain[node] = domain;
	}
	return mapped;
}

/* Finds the chain of one sample that counts; -1 if out of memory. */
static int map_sample(struct stacks *stacks, const struct samples_batch *batch,
		      size_t sample)
{
	uint32_t domain = batch->domain[sample], node = batch->stack[sample];

	stacks->chains[sample] = stacks->map_domain[node] == domain
					 ? stacks->map[node]
					 : map_node(stacks, batch, domain, node);
	return stacks->chains[sample] == TREE_NONE ? -1 : 0;
}

/* Finds the chains of a domain's samples that count, from @sample on. */
static int map_domain(struct stacks *stacks, const struct samples_batch *batch,
		      uint32_t sample)
{
	for (; sample != TREE_NONE; sample = stacks->next[sample])
		if (map_sample(stacks, batch, sample) < 0)
			return -1;
	return 0;
}

static bool has_one_domain(const struct samples_batch *batch)
{
	uint32_t others = 0;

	for (size_t i = 1; i < batch->count; i++)
		others |= batch->domain[i] ^ batch->domain[0];
	return !others;
}

/* Value of map_domain[] for a node where samples that count end. Not a domain. */
#define WANTED (TREE_NONE - 1)

/*
 * Finds the chains of a chunk of one domain, in the order of its nodes: callers and
 * callees are close to each other in the chunk, and so in the tree, which halves the
 * time.
 */
static int map_nodes(struct stacks *stacks, const struct samples_batch *batch,
		     const uint64_t *counts)
{
	for (size_t i = 0; i < batch->count; i++)
		if (counts[i])
			stacks->map_domain[batch->stack[i]] = WANTED;
	for (uint32_t node = 0; node < batch->nodes; node++)
		if (stacks->map_domain[node] == WANTED &&
		    map_node(stacks, batch, batch->domain[0], node) == TREE_NONE)
			return -1;
	for (size_t i = 0; i < batch->count; i++)
		stacks->chains[i] = counts[i] ? stacks->map[batch->stack[i]] : TREE_NONE;
	return 0;
}

/* Makes room for the chunk's domains. */
static int make_heads(struct stacks *stacks, const struct samples_batch *batch)
{
	uint32_t room = stacks->head_room;

	for (size_t i = 0; i < batch->count; i++)
		if (batch->domain[i] >= room)
			room = batch->domain[i] + 1;
	if (room == stacks->head_room)
		return 0;
	if (!array_grow(&stacks->heads, room, sizeof(*stacks->heads)))
		return -1;
	memset(stacks->heads + stacks->head_room, 0xff,
	       (room - stacks->head_room) * sizeof(*stacks->heads));
	stacks->head_room = room;
	return 0;
}

/* Finds the chains domain by domain, because the map is for one domain at a time. */
static int map_samples(struct stacks *stacks, const struct samples_batch *batch,
		       const uint64_t *counts)
{
	uint32_t *heads;
	int status = 0;

	if (has_one_domain(batch))
		return map_nodes(stacks, batch, counts);
	if (make_heads(stacks, batch) < 0)
		return -1;
	heads = stacks->heads;
	for (uint32_t i = (uint32_t)batch->count; i-- > 0;) {
		stacks->chains[i] = TREE_NONE;
		if (!counts[i])
			continue;
		stacks->next[i] = heads[batch->domain[i]];
		heads[batch->domain[i]] = i;
	}
	for (size_t i = 0; i < batch->count; i++) {
		if (status == 0)
			status = map_domain(stacks, batch, heads[batch->domain[i]]);
		heads[batch->domain[i]] = TREE_NONE;
	}
	return status;
}

/* Makes room for the new nodes, and sets their domains. */
static int fill_nodes(struct stacks *stacks)
{
	const struct tree_node *nodes = stacks->tree.nodes;

	if (make_counters(stacks) < 0)
		return -1;
	for (; stacks->filled < stacks->tree.count; stacks->filled++) {
		const struct tree_node *node = &nodes[stacks->filled];

		stacks->domain[stacks->filled] = node->parent < SAMPLES_ROOTS
							 ? (uint32_t)node->key
							 : stacks->domain[node->parent];
	}
	return 0;
}

int stacks_find(struct stacks *stacks, const struct samples_batch *batch,
		const uint64_t *counts)
{
	if (make_room(stacks, batch) < 0 || map_samples(stacks, batch, counts) < 0)
		return -1;
	return fill_nodes(stacks);
}

int stacks_count(struct stacks *stacks, const uint64_t *counts, size_t count)
{
	if (fill_nodes(stacks) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (counts[i])
			stacks->self[stacks->chains[i]] += counts[i];
	return 0;
}

int stacks_add(struct stacks *stacks, const struct samples_batch *batch,
	       const uint64_t *counts)
{
	if (stacks_find(stacks, batch, counts) < 0)
		return -1;
	return stacks_count(stacks, counts, batch->count);
}

uint32_t stacks_cut(struct stacks *stacks, uint32_t chain, uint32_t depth)
{
	uint64_t path[RECORDING_MAX_DEPTH];
	uint32_t count = 0, node = chain;

	for (; stacks_is_address(stacks, node); node = stacks->tree.nodes[node].parent)
		if (count < depth)
			path[count++] = stacks->tree.nodes[node].key;
	while (count-- > 0 && node != TREE_NONE)
		node = tree_intern(&stacks->tree, node, path[count]);
	return node;
}

/* Returns the chain with the exit's mark below it; TREE_NONE if out of memory. */
static uint32_t add_exit(struct stacks *stacks, uint32_t chain, uint64_t exit)
{
	const struct tree_node *node = &stacks->tree.nodes[chain];

	/* The sampled instruction becomes a caller: it is looked up at its address - 1.
	 */
	if (stacks_is_address(stacks, chain))
		chain = tree_intern(&stacks->tree, node->parent, node->key + 1);
	if (chain == TREE_NONE)
		return TREE_NONE;
	return tree_intern(&stacks->tree, chain, CHAIN_EXIT | exit);
}

int stacks_add_exits(struct stacks *stacks, const struct samples_batch *batch,
		     const uint64_t *counts)
{
	for (size_t i = 0; i < batch->count; i++) {
		uint32_t *chain = &stacks->chains[i];

		/* No chain is longer than a recorded one. */
		if (!counts[i] || !batch->exit[i] ||
		    batch->depth[batch->stack[i]] == RECORDING_MAX_DEPTH)
			continue;
		*chain = add_exit(stacks, *chain, batch->exit[i]);
		if (*chain == TREE_NONE)
			return -1;
	}
	return fill_nodes(stacks);
}

uint32_t stacks_interrupted(struct stacks *stacks, uint32_t chain)
{
	const struct tree_node *nodes = stacks->tree.nodes;
	uint32_t found = chain;

	for (uint32_t node = chain; stacks_is_address(stacks, node);
	     node = nodes[node].parent)
		if (nodes[node].key == CHAIN_INTERRUPT)
			found = nodes[node].parent;
	if (found == chain || !stacks_is_address(stacks, found))
		return found;
	/* The return address behind the mark becomes the sampled instruction. */
	return tree_intern(&stacks->tree, nodes[found].parent, nodes[found].key - 1);
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

int stacks_visit(const struct stacks *stacks,
		 int (*visit)(void *arg, uint32_t node, bool is_caller), void *arg)
{
	uint64_t *inclusive = stacks_inclusive(stacks);
	int status = inclusive ? 0 : -1;

	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		if (!stacks_is_address(stacks, i))
			continue;
		if (stacks->self[i])
			status = visit(arg, i, false);
		if (inclusive[i] > stacks->self[i] && status == 0)
			status = visit(arg, i, true);
	}
	free(inclusive);
	return status;
}
