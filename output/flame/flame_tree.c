/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/flame/flame_tree.h"

#include <stdlib.h>

#include "base/array.h"

struct walk {
	struct flame_tree *tree;
	unsigned int side;
	const uint32_t *keys;
	uint32_t domain;  /* the domain's node; the root if domains are not shown
			     separately */
	uint32_t current; /* node of the functions entered so far */
	bool failed;	  /* out of memory */
};

int flame_tree_init(struct flame_tree *tree, bool has_domains)
{
	*tree = (struct flame_tree){.has_domains = has_domains};
	if (tree_init(&tree->tree, 1) < 0)
		return -1;
	tree->capacity = tree->tree.capacity;
	tree->counts = calloc(tree->capacity, sizeof(*tree->counts));
	return tree->counts ? 0 : -1;
}

void flame_tree_free(struct flame_tree *tree)
{
	tree_free(&tree->tree);
	free(tree->counts);
}

static int counts_grow(struct flame_tree *tree)
{
	uint32_t capacity = tree->tree.capacity;

	if (!array_grow(&tree->counts, capacity, sizeof(*tree->counts)))
		return -1;
	for (uint32_t i = tree->capacity; i < capacity; i++)
		for (int side = 0; side < FLAME_SIDES; side++)
			tree->counts[i][side] = 0;
	tree->capacity = capacity;
	return 0;
}

/* Returns the node of a callee of the current function. */
static uint32_t find_callee(struct walk *walk, uint32_t function)
{
	struct flame_tree *tree = walk->tree;
	uint32_t node = walk->failed ? TREE_NONE
				     : tree_intern(&tree->tree, walk->current,
						   walk->keys ? walk->keys[function]
							      : function);

	if (node == TREE_NONE || (node >= tree->capacity && counts_grow(tree) < 0)) {
		walk->failed = true;
		return walk->current;
	}
	return node;
}

/* Adds a count to a callee and, if that is an outermost frame, to its domain and the
 * root. Returns the callee's node. */
static uint32_t count_callee(struct walk *walk, uint32_t function, uint64_t count)
{
	uint32_t node = find_callee(walk, function);
	uint64_t(*counts)[FLAME_SIDES] = walk->tree->counts;

	if (walk->failed)
		return walk->current;
	counts[node][walk->side] += count;
	if (walk->current == walk->domain) {
		counts[0][walk->side] += count;
		if (walk->domain)
			counts[walk->domain][walk->side] += count;
	}
	return node;
}

static void add_self(void *arg, uint32_t function, uint64_t count)
{
	count_callee(arg, function, count);
}

static void begin_domain(void *arg, uint32_t function)
{
	struct walk *walk = arg;

	walk->current = 0;
	if (walk->tree->has_domains)
		walk->current = find_callee(walk, function);
	walk->domain = walk->current;
}

static void enter_function(void *arg, uint32_t function, uint64_t count)
{
	struct walk *walk = arg;

	walk->current = count_callee(walk, function, count);
}

static void leave_function(void *arg, uint32_t function)
{
	struct walk *walk = arg;

	(void)function;
	if (!walk->failed)
		walk->current = walk->tree->tree.nodes[walk->current].parent;
}

int flame_tree_add(struct flame_tree *tree, const struct calls *calls, unsigned int side,
		   const uint32_t *keys)
{
	struct walk walk = {.tree = tree, .side = side, .keys = keys};
	const struct calls_visitor visitor = {add_self, begin_domain, enter_function,
					      leave_function, &walk};

	calls_walk(calls, &visitor);
	return walk.failed ? -1 : 0;
}
