/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/calls.h"

#include <stdlib.h>
#include <string.h>

/*
 * An entry of a node in its parent's list: as the end of a chain, as a caller within
 * longer ones, or both. Chains sort as if the name were followed by NUL in the first case
 * and by ';' in the second.
 */
struct item {
	uint32_t node;
	uint32_t is_caller;
};

struct calls {
	struct tree tree; /* one root, then domains; keys are functions or places */
	bool by_place;
	bool inverted;
	uint64_t *self;	 /* by node */
	uint64_t *below; /* by node: samples of longer chains through it */
	struct item *items;
	uint32_t *first; /* by node: its first item; one more entry ends the last node's
			    items */
	uint32_t *trail; /* space for the callers of the deepest chain */
};

void calls_free(struct calls *calls)
{
	if (!calls)
		return;
	tree_free(&calls->tree);
	free(calls->self);
	free(calls->below);
	free(calls->items);
	free(calls->first);
	free(calls->trail);
	free(calls);
}

/*
 * The node of calls for the function at @address below @parent; the last one, if
 * functions are inlined there. TREE_NONE on failure.
 */
static uint32_t child_of(struct calls *calls, struct frames *frames, uint32_t parent,
			 uint32_t domain, uint64_t address, enum frame_use use)
{
	uint32_t number = frames_find(frames, domain, address, use);
	const struct frame *frame;

	if (number == FRAMES_NONE)
		return TREE_NONE;
	frame = frames_get(frames, number);
	for (uint32_t i = 0; i < frame->function_count && parent != TREE_NONE; i++) {
		uint32_t depth = calls->inverted ? i : frame->function_count - 1 - i;

		parent = tree_intern(&calls->tree, parent,
				     calls->by_place
					     ? frames_place_at(frames, frame, depth)
					     : frames_function_at(frames, frame, depth));
	}
	return parent;
}

/* Sets @caller to the node of calls for a domain, and @leaf to that for its samples
 * without a chain. */
static int name_domain(struct calls *calls, struct frames *frames, uint32_t domain,
		       uint32_t *caller, uint32_t *leaf)
{
	uint32_t name = frames_domain(frames, domain), empty = FRAMES_EMPTY_CHAIN;

	if (calls->by_place && name != FRAMES_NONE) {
		name = frames_place_of(frames, name);
		empty = frames_place_of(frames, empty);
	}
	if (name == FRAMES_NONE || empty == FRAMES_NONE)
		return -1;
	*caller = tree_intern(&calls->tree, 0, name);
	if (*caller == TREE_NONE)
		return -1;
	*leaf = tree_intern(&calls->tree, *caller, empty);
	return *leaf == TREE_NONE ? -1 : 0;
}

/*
 * Builds the tree, and sets @leaf to the node of calls for each node of @stacks that has
 * samples. @inclusive is from stacks_inclusive().
 */
static int name_nodes(struct calls *calls, const struct stacks *stacks,
		      struct frames *frames, const uint64_t *inclusive, uint32_t *leaf)
{
	uint32_t *caller = malloc(stacks->tree.count * sizeof(*caller));
	int status = -1;

	if (!caller)
		return -1;
	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count; i++) {
		const struct tree_node *node = &stacks->tree.nodes[i];
		uint32_t parent, domain = stacks->domain[i];

		if (!inclusive[i])
			continue;
		if (!stacks_is_address(stacks, i)) {
			if (name_domain(calls, frames, domain, &caller[i], &leaf[i]) < 0)
				goto out;
			continue;
		}
		parent = caller[node->parent];
		if (stacks->self[i]) {
			leaf[i] = child_of(calls, frames, parent, domain, node->key,
					   FRAME_LEAF);
			if (leaf[i] == TREE_NONE)
				goto out;
		}
		if (inclusive[i] > stacks->self[i]) {
			caller[i] = child_of(calls, frames, parent, domain, node->key,
					     FRAME_CALLER);
			if (caller[i] == TREE_NONE)
				goto out;
		}
	}
	status = 0;
out:
	free(caller);
	return status;
}

/* Builds the tree of inverted chains, and sets @leaf to the node at the end of each. */
static int name_inverted(struct calls *calls, const struct stacks *stacks,
			 struct frames *frames, uint32_t *leaf)
{
	const struct tree_node *nodes = stacks->tree.nodes;

	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count; i++) {
		uint32_t domain = stacks->domain[i], node;
		enum frame_use use = FRAME_LEAF;

		if (!stacks->self[i])
			continue;
		if (name_domain(calls, frames, domain, &node, &leaf[i]) < 0)
			return -1;
		for (uint32_t at = i; stacks_is_address(stacks, at);
		     at = nodes[at].parent) {
			node = child_of(calls, frames, node, domain, nodes[at].key, use);
			if (node == TREE_NONE)
				return -1;
			leaf[i] = node;
			use = FRAME_CALLER;
		}
	}
	return 0;
}

static int count_samples(struct calls *calls, const struct stacks *stacks,
			 const uint32_t *leaf)
{
	const struct tree *tree = &calls->tree;

	calls->self = calloc(tree->count, sizeof(*calls->self));
	calls->below = calloc(tree->count, sizeof(*calls->below));
	if (!calls->self || !calls->below)
		return -1;
	for (uint32_t i = 0; i < stacks->tree.count; i++)
		if (stacks->self[i])
			calls->self[leaf[i]] += stacks->self[i];
	for (uint32_t i = tree->count; i-- > 1;)
		calls->below[tree->nodes[i].parent] += calls->self[i] + calls->below[i];
	return 0;
}

struct ranked {
	const char *name;
	uint32_t key;
	uint32_t is_caller;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	const char *p = x->name, *q = y->name;
	int order;

	while (*p && *p == *q)
		p++, q++;
	order = (*p || !x->is_caller ? (unsigned char)*p : ';') -
		(*q || !y->is_caller ? (unsigned char)*q : ';');
	return order ?: (x->key > y->key) - (x->key < y->key);
}

/* Returns a number that is higher than all keys of the tree. */
static uint32_t key_count(const struct calls *calls, const struct frames *frames)
{
	return calls->by_place ? frames_places(frames) : frames_functions(frames);
}

static const char *name_of(const struct calls *calls, const struct frames *frames,
			   uint32_t key)
{
	/* The root of the places is not a place. */
	if (calls->by_place)
		key = key ? frames_place(frames, key).function : FRAMES_EMPTY_CHAIN;
	return frames_function_name(frames, key);
}

/* Position in the order, by key and is_caller (2 * key + is_caller). */
static uint32_t *rank_keys(const struct calls *calls, const struct frames *frames)
{
	uint32_t count = 2 * key_count(calls, frames);
	struct ranked *list = malloc(count * sizeof(*list));
	uint32_t *ranks = malloc(count * sizeof(*ranks));

	if (!list || !ranks) {
		free(list);
		free(ranks);
		return NULL;
	}
	for (uint32_t i = 0; i < count; i++)
		list[i] = (struct ranked){name_of(calls, frames, i / 2), i / 2, i & 1};
	qsort(list, count, sizeof(*list), compare_ranked);
	for (uint32_t i = 0; i < count; i++)
		ranks[2 * list[i].key + list[i].is_caller] = i;
	free(list);
	return ranks;
}

/*
 * One pass of a (stable) radix sort: copies @count items from @from to @to, ordered by
 * @keys (by item, below @key_count). @start has @key_count + 1 entries and is set to the
 * start of each key's items.
 */
static void sort_items(struct item *to, const struct item *from, uint32_t count,
		       const uint32_t *keys, uint32_t key_count, uint32_t *start)
{
	memset(start, 0, (key_count + (size_t)1) * sizeof(*start));
	for (uint32_t i = 0; i < count; i++)
		start[keys[i]]++;
	for (uint32_t i = 0, sum = 0; i <= key_count; i++) {
		uint32_t size = start[i];

		start[i] = sum;
		sum += size;
	}
	for (uint32_t i = 0; i < count; i++)
		to[start[keys[i]]++] = from[i];
	memmove(start + 1, start, key_count * sizeof(*start));
	start[0] = 0;
}

static uint32_t count_items(const struct calls *calls)
{
	uint32_t count = 0;

	for (uint32_t i = 1; i < calls->tree.count; i++)
		count += (calls->self[i] != 0) + (calls->below[i] != 0);
	return count;
}

static void list_items(const struct calls *calls, struct item *items)
{
	for (uint32_t i = 1; i < calls->tree.count; i++) {
		if (calls->self[i])
			*items++ = (struct item){i, 0};
		if (calls->below[i])
			*items++ = (struct item){i, 1};
	}
}

/* Sorts all items by rank, and then (stably) by parent. */
static int order_items(struct calls *calls, const struct frames *frames)
{
	const struct tree_node *nodes = calls->tree.nodes;
	uint32_t ranks_count = 2 * key_count(calls, frames), count = count_items(calls);
	uint32_t *ranks = rank_keys(calls, frames);
	uint32_t *rank_start = malloc((ranks_count + (size_t)1) * sizeof(*rank_start));
	uint32_t *keys = calloc(count + (size_t)1, sizeof(*keys));
	struct item *sorted = malloc((count + (size_t)1) * sizeof(*sorted));
	int status = -1;

	calls->items = malloc((count + (size_t)1) * sizeof(*calls->items));
	calls->first = malloc((calls->tree.count + (size_t)1) * sizeof(*calls->first));
	if (!ranks || !rank_start || !keys || !sorted || !calls->items || !calls->first)
		goto out;
	list_items(calls, calls->items);
	for (uint32_t i = 0; i < count; i++)
		keys[i] = ranks[2 * (uint32_t)nodes[calls->items[i].node].key +
				calls->items[i].is_caller];
	sort_items(sorted, calls->items, count, keys, ranks_count, rank_start);
	for (uint32_t i = 0; i < count; i++)
		keys[i] = nodes[sorted[i].node].parent;
	sort_items(calls->items, sorted, count, keys, calls->tree.count, calls->first);
	status = 0;
out:
	free(ranks);
	free(rank_start);
	free(keys);
	free(sorted);
	return status;
}

static int make_trail(struct calls *calls)
{
	const struct tree *tree = &calls->tree;
	uint32_t *depth = calloc(tree->count, sizeof(*depth)), deepest = 0;

	if (!depth)
		return -1;
	for (uint32_t i = 1; i < tree->count; i++) {
		depth[i] = depth[tree->nodes[i].parent] + 1;
		if (depth[i] > deepest)
			deepest = depth[i];
	}
	free(depth);
	calls->trail = malloc((deepest + (size_t)1) * sizeof(*calls->trail));
	return calls->trail ? 0 : -1;
}

static struct calls *make_calls(const struct stacks *stacks, struct frames *frames,
				bool inverted, bool by_place)
{
	struct calls *calls = calloc(1, sizeof(*calls));
	uint64_t *inclusive = stacks_inclusive(stacks);
	uint32_t *leaf = malloc(stacks->tree.count * sizeof(*leaf));
	int status = -1;

	if (!calls || !inclusive || !leaf || tree_init(&calls->tree, 1) < 0)
		goto out;
	calls->by_place = by_place;
	calls->inverted = inverted;
	status = inverted ? name_inverted(calls, stacks, frames, leaf)
			  : name_nodes(calls, stacks, frames, inclusive, leaf);
	if (status < 0 || count_samples(calls, stacks, leaf) < 0 ||
	    order_items(calls, frames) < 0 || make_trail(calls) < 0)
		status = -1;
out:
	free(inclusive);
	free(leaf);
	if (status < 0) {
		calls_free(calls);
		return NULL;
	}
	return calls;
}

struct calls *calls_new(const struct stacks *stacks, struct frames *frames)
{
	return make_calls(stacks, frames, false, false);
}

struct calls *calls_of(const struct stacks *stacks, struct frames *frames, bool inverted)
{
	return make_calls(stacks, frames, inverted, false);
}

struct calls *calls_by_place(const struct stacks *stacks, struct frames *frames)
{
	return make_calls(stacks, frames, false, true);
}

void calls_walk(const struct calls *calls, const struct calls_visitor *visitor)
{
	const struct tree_node *nodes = calls->tree.nodes;
	uint32_t node = 0, depth = 0, next = calls->first[0];

	for (;;) {
		const struct item *item = &calls->items[next];

		if (next == calls->first[node + 1]) {
			if (!depth)
				return;
			if (depth > 1)
				visitor->leave(visitor->arg, (uint32_t)nodes[node].key);
			node = nodes[node].parent;
			next = calls->trail[--depth];
			continue;
		}
		next++;
		if (!item->is_caller) {
			visitor->self(visitor->arg, (uint32_t)nodes[item->node].key,
				      calls->self[item->node]);
			continue;
		}
		if (depth)
			visitor->enter(visitor->arg, (uint32_t)nodes[item->node].key,
				       calls->below[item->node]);
		else
			visitor->domain(visitor->arg, (uint32_t)nodes[item->node].key);
		calls->trail[depth++] = next;
		node = item->node;
		next = calls->first[node];
	}
}
