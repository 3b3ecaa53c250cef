/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/filter.h"

#include <stdlib.h>
#include <string.h>

/* What matches, of a function, or of a chain in which all are callers. */
enum match {
	MATCH_KNOWN = 1, /* it was looked at */
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
	uint32_t *chains; /* by node: its chain when cut; TREE_NONE when left out */
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

static bool is_match(const regex_t *regex, const char *name)
{
	return !regex || regexec(regex, name, 0, NULL, 0) == 0;
}

/* enum match of a function; 0 when memory is short. */
static unsigned int match_function(struct filter *filter, uint32_t function)
{
	const char *name = FILTER_UNNAMED;
	unsigned int match = MATCH_KNOWN;

	if (function >= filter->function_room) {
		uint32_t room = frames_functions(filter->frames) * 2;
		uint8_t *grown = realloc(filter->functions, room);

		if (!grown)
			return 0;
		memset(grown + filter->function_room, 0, room - filter->function_room);
		filter->functions = grown;
		filter->function_room = room;
	}
	if (filter->functions[function])
		return filter->functions[function];
	if (frames_function_known(filter->frames, function))
		name = frames_function_name(filter->frames, function);
	if (is_match(filter->rules.parent, name))
		match |= MATCH_PARENT;
	if (is_match(filter->rules.symbol, name))
		match |= MATCH_SYMBOL;
	filter->functions[function] = (uint8_t)match;
	return match;
}

bool filter_shows(struct filter *filter, uint32_t function)
{
	return match_function(filter, function) & MATCH_SYMBOL;
}

/* The same for the functions at the address of a node; 0 when memory is short. */
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
		/* Those that the sampled one is inlined into are its callers. */
		if (use == FRAME_LEAF && i == 0)
			own &= ~(unsigned int)MATCH_PARENT;
		match |= own;
	}
	return match;
}

static int make_room(struct filter *filter, const struct stacks *stacks)
{
	uint32_t room = stacks->tree.capacity;
	uint32_t *chains;
	uint8_t *callers;

	if (stacks->tree.count <= filter->node_room)
		return 0;
	callers = realloc(filter->callers, room);
	if (!callers)
		return -1;
	filter->callers = callers;
	chains = realloc(filter->chains, room * sizeof(*chains));
	if (!chains)
		return -1;
	filter->chains = chains;
	for (uint32_t i = filter->node_room; i < room; i++) {
		callers[i] = 0;
		chains[i] = NOT_DECIDED;
	}
	filter->node_room = room;
	return 0;
}

/* enum match of @node and all of its callers; 0 when memory is short. */
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

/* Whether the rules let a chain pass: 1 or 0; -1 when memory is short. */
static int passes(struct filter *filter, const struct stacks *stacks, uint32_t chain)
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

/* What is to be counted for a chain; -1 when memory is short. */
static int decide(struct filter *filter, struct stacks *stacks, uint32_t chain,
		  uint32_t *to)
{
	int status;

	*to = filter->chains[chain];
	if (*to != NOT_DECIDED)
		return 0;
	status = passes(filter, stacks, chain);
	if (status < 0)
		return -1;
	*to = status ? chain : TREE_NONE;
	if (status && filter->rules.max_depth) {
		*to = stacks_cut(stacks, chain, filter->rules.max_depth);
		if (*to == TREE_NONE)
			return -1;
	}
	filter->chains[chain] = *to;
	return 0;
}

int filter_batch(struct filter *filter, struct stacks *stacks, struct measure *measure,
		 size_t count)
{
	const struct filter_rules *rules = &filter->rules;

	if (!rules->parent && !rules->symbol && !rules->max_depth)
		return 0;
	if (make_room(filter, stacks) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!measure->counts[i])
			continue;
		if (decide(filter, stacks, stacks->chains[i], &stacks->chains[i]) < 0)
			return -1;
		if (stacks->chains[i] == TREE_NONE)
			measure_drop(measure, i);
	}
	return 0;
}
