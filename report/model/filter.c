/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/filter.h"

#include <stdlib.h>

#include "base/array.h"

/* The rules that a function, or a chain whose functions are all callers, matches */
enum match {
	MATCH_KNOWN = 1, /* the match was determined */
	MATCH_PARENT = 2,
	MATCH_SYMBOL = 4,
};

#define NOT_DECIDED (TREE_NONE - 1)

struct filter {
	struct filter_rules rules;
	struct frames *frames;
	uint8_t *functions; /* by function: enum match */
	uint32_t function_room;
	uint8_t *callers; /* by node of the stacks: enum match */
	uint32_t *chains; /* by node: its chain after cutting; TREE_NONE if dropped */
	uint32_t node_room;
};

struct filter *filter_new(const struct filter_rules *rules, struct frames *frames)
{
	struct filter *filter = calloc(1, sizeof(*filter));

	if (!filter)
		return NULL;
	filter->rules = *rules;
	filter->frames = frames;
	return filter;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	free(filter->functions);
	free(filter->callers);
	free(filter->chains);
	free(filter);
}

/* Adds @flag to @match if the name matches; false if out of memory. */
static bool add_match(unsigned int *match, enum match flag, const regex_t *regex,
		      const char *name)
{
	int status = regex ? regexec(regex, name, 0, NULL, 0) : 0;

	if (status == 0)
		*match |= flag;
	return status != REG_ESPACE;
}

/* Returns the enum match of a function; 0 if out of memory. */
static unsigned int match_function(struct filter *filter, uint32_t function)
{
	const char *name = FILTER_UNNAMED;
	unsigned int match = MATCH_KNOWN;

	if (function >= filter->function_room) {
		uint32_t room = frames_functions(filter->frames) * 2;

		if (!array_grow_zeroed(&filter->functions, filter->function_room, room,
				       sizeof(*filter->functions)))
			return 0;
		filter->function_room = room;
	}
	if (filter->functions[function])
		return filter->functions[function];
	if (frames_function_known(filter->frames, function))
		name = frames_function_name(filter->frames, function);
	if (!add_match(&match, MATCH_PARENT, filter->rules.parent, name) ||
	    !add_match(&match, MATCH_SYMBOL, filter->rules.symbol, name))
		return 0;
	filter->functions[function] = (uint8_t)match;
	return match;
}

int filter_shows(struct filter *filter, uint32_t function)
{
	unsigned int match = match_function(filter, function);

	return match ? !!(match & MATCH_SYMBOL) : -1;
}

/* Returns the enum match of the functions at the address of a node; 0 if out of memory.
 */
static unsigned int match_node(struct filter *filter, const struct stacks *stacks,
			       uint32_t node, enum frame_use use)
{
	uint32_t number = frames_find(filter->frames, stacks->domain[node],
				      stacks->tree.nodes[node].key, use);
	unsigned int match = 0;
	const struct frame *frame;

	if (number == FRAMES_NONE)
		return 0;
	frame = frames_get(filter->frames, number);
	for (uint32_t i = 0; i < frame->function_count; i++) {
		unsigned int own = match_function(
			filter, frames_function_at(filter->frames, frame, i));

		if (!own)
			return 0;
		/* Functions that the sampled one is inlined into are its callers. */
		if (use == FRAME_LEAF && i == 0)
			own &= ~(unsigned int)MATCH_PARENT;
		match |= own;
	}
	return match;
}

static int make_room(struct filter *filter, const struct stacks *stacks)
{
	uint32_t room = stacks->tree.capacity;

	if (stacks->tree.count <= filter->node_room)
		return 0;
	if (!array_grow_zeroed(&filter->callers, filter->node_room, room,
			       sizeof(*filter->callers)) ||
	    !array_grow(&filter->chains, room, sizeof(*filter->chains)))
		return -1;
	for (uint32_t i = filter->node_room; i < room; i++)
		filter->chains[i] = NOT_DECIDED;
	filter->node_room = room;
	return 0;
}

/* Returns the enum match of @node and all of its callers; 0 if out of memory. */
static unsigned int match_callers(struct filter *filter, const struct stacks *stacks,
				  uint32_t node)
{
	uint32_t path[RECORDING_MAX_DEPTH], depth = 0;
	unsigned int match = MATCH_KNOWN;

	for (; stacks_is_address(stacks, node); node = stacks->tree.nodes[node].parent) {
		if (filter->callers[node]) {
			match = filter->callers[node];
			break;
		}
		path[depth++] = node;
	}
	while (depth-- > 0) {
		unsigned int own = match_node(filter, stacks, path[depth], FRAME_CALLER);

		if (!own)
			return 0;
		match |= own;
		filter->callers[path[depth]] = (uint8_t)match;
	}
	return match;
}

/* Whether a chain passes the rules: 1 or 0; -1 if out of memory. */
static int chain_passes(struct filter *filter, const struct stacks *stacks,
			uint32_t chain)
{
	unsigned int callers = MATCH_KNOWN, leaf;

	if (!filter->rules.parent && !filter->rules.symbol)
		return 1;
	if (stacks_is_address(stacks, chain)) {
		leaf = match_node(filter, stacks, chain, FRAME_LEAF);
		callers = match_callers(filter, stacks, stacks->tree.nodes[chain].parent);
	} else {
		leaf = match_function(filter, FRAMES_EMPTY_CHAIN) &
		       ~(unsigned int)MATCH_PARENT;
	}
	if (!leaf || !callers)
		return -1;
	if (filter->rules.parent && !((leaf | callers) & MATCH_PARENT))
		return 0;
	return !filter->rules.symbol || (leaf | callers) & MATCH_SYMBOL;
}

/* Sets @to to the chain to count for @chain; -1 if out of memory. */
static int chain_decide(struct filter *filter, struct stacks *stacks, uint32_t chain,
			uint32_t *to)
{
	int status;

	*to = filter->chains[chain];
	if (*to != NOT_DECIDED)
		return 0;
	status = chain_passes(filter, stacks, chain);
	if (status < 0)
		return -1;
	*to = status ? chain : TREE_NONE;
	if (status && filter->rules.no_interrupts)
		*to = stacks_interrupted(stacks, *to);
	if (status && *to != TREE_NONE && filter->rules.max_depth)
		*to = stacks_cut(stacks, *to, filter->rules.max_depth);
	if (status && *to == TREE_NONE)
		return -1;
	filter->chains[chain] = *to;
	return 0;
}

/* Whether a chain's sampled function is a hypercall: 1 or 0; -1 if out of memory. */
static int is_hypercall(const struct filter *filter, const struct stacks *stacks,
			uint32_t chain)
{
	uint32_t frame;

	if (!stacks_is_address(stacks, chain))
		return 0;
	frame = frames_find(filter->frames, stacks->domain[chain],
			    stacks->tree.nodes[chain].key, FRAME_LEAF);
	if (frame == FRAMES_NONE)
		return -1;
	return frames_function_is_exit(filter->frames,
				       frames_get(filter->frames, frame)->function);
}

int filter_exits(struct filter *filter, const struct stacks *stacks,
		 struct measure *measure, const struct samples_batch *batch)
{
	for (size_t i = 0; i < batch->count; i++) {
		int status;

		if (!measure->counts[i] || batch->exit[i])
			continue;
		status = is_hypercall(filter, stacks, stacks->chains[i]);
		if (status < 0)
			return -1;
		if (!status)
			measure_take_back(measure, i);
	}
	return 0;
}

int filter_batch(struct filter *filter, struct stacks *stacks, struct measure *measure,
		 size_t count)
{
	const struct filter_rules *rules = &filter->rules;

	if (!rules->parent && !rules->symbol && !rules->max_depth &&
	    !rules->no_interrupts)
		return 0;
	if (make_room(filter, stacks) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!measure->counts[i])
			continue;
		if (chain_decide(filter, stacks, stacks->chains[i], &stacks->chains[i]) <
		    0)
			return -1;
		if (stacks->chains[i] == TREE_NONE)
			measure_drop(measure, i);
	}
	return 0;
}
