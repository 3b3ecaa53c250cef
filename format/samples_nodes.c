/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "format/samples.h"

struct node {
	uint64_t address;
	uint32_t parent;
};

int nodes_init(struct nodes *nodes)
{
	*nodes = (struct nodes){.slot_count = 1024};
	nodes->slots = calloc(nodes->slot_count, sizeof(*nodes->slots));
	nodes->guesses = malloc(sizeof(*nodes->guesses));
	return nodes->slots && nodes->guesses ? 0 : -1;
}

void nodes_free(struct nodes *nodes)
{
	free(nodes->list);
	free(nodes->slots);
	free(nodes->places);
	free(nodes->sorted);
	free(nodes->guesses);
	*nodes = (struct nodes){0};
}

void nodes_reset(struct nodes *nodes)
{
	nodes->count = 0;
	memset(nodes->slots, 0, nodes->slot_count * sizeof(*nodes->slots));
}

/* Where the node is in the table, or where it belongs. */
static size_t slot_of(const struct nodes *nodes, uint32_t parent, uint64_t address)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	uint64_t hash = (address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;
	size_t mask = nodes->slot_count - 1, slot = (size_t)(hash >> 32) & mask;

	while (nodes->slots[slot]) {
		const struct node *node =
			&nodes->list[nodes->slots[slot] - SAMPLES_ROOTS];

		if (node->address == address && node->parent == parent)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static int grow_table(struct nodes *nodes)
{
	size_t count = nodes->slot_count * 2;
	uint32_t *slots = calloc(count, sizeof(*slots));

	if (!slots)
		return -1;
	free(nodes->slots);
	nodes->slots = slots;
	nodes->slot_count = count;
	for (size_t i = 0; i < nodes->count; i++)
		slots[slot_of(nodes, nodes->list[i].parent, nodes->list[i].address)] =
			(uint32_t)i + SAMPLES_ROOTS;
	return 0;
}

/* Finds or adds the node; 0 when memory is short. */
static uint32_t intern(struct nodes *nodes, uint32_t parent, uint64_t address)
{
	size_t slot = slot_of(nodes, parent, address);

	if (nodes->slots[slot])
		return nodes->slots[slot];
	if (nodes->count * 2 >= nodes->slot_count) {
		if (grow_table(nodes) < 0)
			return 0;
		slot = slot_of(nodes, parent, address);
	}
	if (nodes->count == nodes->capacity) {
		size_t capacity = nodes->capacity ? nodes->capacity * 2 : 512;
		struct node *list = realloc(nodes->list, capacity * sizeof(*list));

		if (!list)
			return 0;
		nodes->list = list;
		nodes->capacity = capacity;
	}
	nodes->list[nodes->count] = (struct node){address, parent};
	nodes->slots[slot] = (uint32_t)nodes->count++ + SAMPLES_ROOTS;
	return nodes->slots[slot];
}

uint32_t nodes_add(struct nodes *nodes, const struct chain *chain)
{
	uint32_t node = chain->end;

	for (uint32_t i = chain->count; i-- > 0;) {
		node = intern(nodes, node, chain->address[i]);
		if (!node)
			return 0;
	}
	return node;
}

/* A node, root or not, in the order of the file: from the roots on, those called by the
 * same in the order of their addresses. */
struct place {
	uint32_t callee; /* its first one; 0 for none */
	uint32_t next;	 /* the caller's next callee; 0 for none */
	uint64_t last;	 /* address of the callee that was stored last */
	uint32_t depth;	 /* addresses up to the root */
	uint32_t end;	 /* its number among the ends, of those with or without callees */
	bool is_end;	 /* and has callees, or is a root */
};

struct keyed {
	uint64_t address;
	uint32_t node;
};

static int compare_addresses(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

/* Room for each node, and the memory of none before. -1 when memory is short. */
static int make_room(struct nodes *nodes)
{
	size_t count = nodes->count + SAMPLES_ROOTS;

	if (count > nodes->place_capacity) {
		size_t capacity = nodes->capacity + SAMPLES_ROOTS;
		struct place *places = realloc(nodes->places, capacity * sizeof(*places));
		struct keyed *sorted;

		if (!places)
			return -1;
		nodes->places = places;
		sorted = realloc(nodes->sorted, capacity * sizeof(*sorted));
		if (!sorted)
			return -1;
		nodes->sorted = sorted;
		nodes->place_capacity = capacity;
	}
	memset(nodes->places, 0, count * sizeof(*nodes->places));
	memset(nodes->guesses, 0, sizeof(*nodes->guesses));
	return 0;
}

static void link_places(struct nodes *nodes)
{
	struct keyed *sorted = nodes->sorted;
	struct place *places = nodes->places;

	for (size_t i = 0; i < nodes->count; i++)
		sorted[i] = (struct keyed){nodes->list[i].address,
					   (uint32_t)i + SAMPLES_ROOTS};
	qsort(sorted, nodes->count, sizeof(*sorted), compare_addresses);
	for (size_t i = nodes->count; i-- > 0;) {
		uint32_t node = sorted[i].node;
		struct place *parent = &places[nodes->list[node - SAMPLES_ROOTS].parent];

		places[node].next = parent->callee;
		parent->callee = node;
	}
}

/* The one after @node in the file's order, of the same root; 0 at the end. */
static uint32_t next_node(const struct nodes *nodes, uint32_t node)
{
	const struct place *places = nodes->places;

	if (places[node].callee)
		return places[node].callee;
	while (node >= SAMPLES_ROOTS && !places[node].next)
		node = nodes->list[node - SAMPLES_ROOTS].parent;
	return node < SAMPLES_ROOTS ? 0 : places[node].next;
}

/* What numbers ends, and where the walk through the tree is. */
struct walk {
	uint32_t stored, inner, outer;
	uint32_t last_inner;	   /* as numbered in the file */
	uint32_t last_depth, root; /* of the node that was stored last */
};

static void number_end(struct walk *walk, struct place *place, uint32_t number,
		       struct buffer *inner_ends)
{
	if (!place->is_end) {
		place->end = walk->outer++;
		return;
	}
	place->end = walk->inner++;
	buffer_put_varint(inner_ends, number - walk->last_inner);
	walk->last_inner = number;
}

static uint64_t address_of(const struct nodes *nodes, uint32_t node)
{
	return node < SAMPLES_ROOTS ? 0 : nodes->list[node - SAMPLES_ROOTS].address;
}

/* Stores the nodes that are called by the one root. */
static void store_root(struct nodes *nodes, struct node_columns *columns,
		       struct walk *walk, uint32_t root)
{
	struct place *places = nodes->places;
	uint32_t node = places[root].callee;

	for (; node; node = next_node(nodes, node)) {
		uint32_t caller = nodes->list[node - SAMPLES_ROOTS].parent;
		uint32_t depth = places[caller].depth;
		uint64_t address = address_of(nodes, node);
		uint64_t *guess = guess_of(nodes->guesses, address_of(nodes, caller),
					   places[caller].last);

		buffer_put_varint(&columns->level,
				  walk->last_depth + root - walk->root - depth);
		buffer_put_signed(&columns->address, (int64_t)(address - *guess));
		*guess = places[caller].last = address;
		walk->last_depth = places[node].depth = depth + 1;
		walk->root = root;
		if (places[node].is_end || !places[node].callee)
			number_end(walk, &places[node], walk->stored + SAMPLES_ROOTS,
				   &columns->inner_ends);
		walk->stored++;
	}
}

int nodes_store(struct nodes *nodes, struct node_columns *columns, uint32_t *stacks,
		size_t count)
{
	struct walk walk = {0};
	struct place *places;

	buffer_reset(&columns->level);
	buffer_reset(&columns->address);
	buffer_reset(&columns->inner_ends);
	if (make_room(nodes) < 0)
		return -1;
	places = nodes->places;
	link_places(nodes);
	for (size_t i = 0; i < count; i++)
		places[stacks[i]].is_end = stacks[i] < SAMPLES_ROOTS ||
					   places[stacks[i]].callee;
	for (uint32_t root = 0; root < SAMPLES_ROOTS; root++)
		if (places[root].is_end)
			number_end(&walk, &places[root], root, &columns->inner_ends);
	for (uint32_t root = 0; root < SAMPLES_ROOTS; root++)
		store_root(nodes, columns, &walk, root);
	for (size_t i = 0; i < count; i++) {
		const struct place *place = &places[stacks[i]];

		stacks[i] = place->end + (place->is_end ? 0 : walk.inner);
	}
	return 0;
}
