/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/places/relocate.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/chain.h"

void relocation_free(struct relocation *relocation)
{
	free(relocation->map);
	free(relocation->owner);
	free(relocation->next);
	free(relocation->first);
	*relocation = (struct relocation){0};
}

/* Makes room for @count elements. */
static bool reach(uint32_t **array, size_t *room, size_t count)
{
	if (count <= *room)
		return true;
	if (!array_grow(array, count, sizeof(**array)))
		return false;
	*room = count;
	return true;
}

/* Makes room for a chunk, with no node replaced yet. */
static bool make_room(struct relocation *relocation, const struct samples_batch *batch)
{
	size_t room = relocation->map_room;

	if (!reach(&relocation->map, &room, batch->nodes) ||
	    !reach(&relocation->owner, &relocation->map_room, batch->nodes) ||
	    !reach(&relocation->next, &relocation->next_room, batch->count) ||
	    !reach(&relocation->first, &relocation->first_room, batch->process_count))
		return false;
	relocation->processes = 0;
	memset(relocation->owner, 0, batch->nodes * sizeof(*relocation->owner));
	memset(relocation->first, 0, batch->process_count * sizeof(*relocation->first));
	return true;
}

/* Adds a node to the chunk's tree; its number, or 0 if out of memory. */
static uint32_t add_node(struct samples_batch *batch, uint32_t parent, uint64_t address)
{
	uint32_t node = (uint32_t)batch->nodes;
	bool is_full = batch->nodes == batch->node_capacity;

	if (is_full && !samples_batch_grow(batch, 2 * batch->nodes))
		return 0;
	batch->parent[node] = parent;
	batch->address[node] = address;
	batch->depth[node] = (uint16_t)(batch->depth[parent] + 1);
	batch->nodes++;
	return node;
}

/* Replaces a node of the chain of a process; its number, or 0 if out of memory. */
static uint32_t replace_node(struct samples_batch *batch, const struct mappings *mappings,
			     const struct mapped_process *process, uint32_t node,
			     uint32_t parent)
{
	uint64_t address = batch->address[node];
	uint64_t place = chain_mark_name(address)
				 ? address
				 : mappings_place(mappings, process, address);

	return place == address && parent == batch->parent[node]
		       ? node
		       : add_node(batch, parent, place);
}

/* Returns the node that replaces @node for the process with this @number; 0 if out of
 * memory. */
static uint32_t map_node(struct relocation *relocation, const struct mappings *mappings,
			 struct samples_batch *batch,
			 const struct mapped_process *process, uint32_t number,
			 uint32_t node)
{
	uint32_t path[RECORDING_MAX_DEPTH + 1], depth = 0, mapped;

	while (node >= SAMPLES_ROOTS && relocation->owner[node] != number) {
		path[depth++] = node;
		node = batch->parent[node];
	}
	mapped = node < SAMPLES_ROOTS ? node : relocation->map[node];
	for (; depth > 0; depth--) {
		node = path[depth - 1];
		mapped = replace_node(batch, mappings, process, node, mapped);
		if (!mapped)
			return 0;
		relocation->map[node] = mapped;
		relocation->owner[node] = number;
	}
	return mapped;
}

/* Replaces the chain of the sample, for the process with this @number. */
static int map_sample(struct relocation *relocation, const struct mappings *mappings,
		      struct samples_batch *batch, const struct mapped_process *process,
		      uint32_t number, uint32_t sample)
{
	uint32_t *node = &batch->stack[sample];

	if (*node < SAMPLES_ROOTS)
		return 0;
	*node = map_node(relocation, mappings, batch, process, number, *node);
	return *node ? 0 : -1;
}

/* Replaces the chains of the samples from @first - 1 on, whose processes are equal: first
 * those in the domain of the first one, and so on. */
static int relocate_process(struct relocation *relocation,
			    const struct mappings *mappings, struct samples_batch *batch,
			    uint32_t first)
{
	while (first) {
		uint32_t domain = batch->domain[first - 1], others = 0, next;
		const struct mapped_process *process = mappings_of(
			mappings, domain, &batch->processes[batch->process[first - 1]]);
		uint32_t number = ++relocation->processes;

		for (uint32_t i = first; i; i = next) {
			next = relocation->next[i - 1];
			if (batch->domain[i - 1] != domain) {
				relocation->next[i - 1] = others;
				others = i;
			} else if (process && map_sample(relocation, mappings, batch,
							 process, number, i - 1) < 0) {
				return -1;
			}
		}
		first = others;
	}
	return 0;
}

int relocate(struct relocation *relocation, const struct mappings *mappings,
	     struct samples_batch *batch)
{
	if (!mappings_any(mappings) || !batch->count)
		return 0;
	if (!make_room(relocation, batch))
		return -1;
	for (uint32_t i = (uint32_t)batch->count; i-- > 0;) {
		uint32_t *first = &relocation->first[batch->process[i]];

		relocation->next[i] = *first;
		*first = i + 1;
	}
	for (uint32_t i = 0; i < batch->process_count; i++)
		if (relocation->first[i] && relocate_process(relocation, mappings, batch,
							     relocation->first[i]) < 0)
			return -1;
	return 0;
}
