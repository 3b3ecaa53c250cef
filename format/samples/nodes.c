/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples/nodes.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "format/samples.h"

struct node {
	uint64_t address;
	uint32_t parent;
};

int nodes_init(struct nodes *nodes)
{
	*nodes = (struct nodes){.slot_count = 1024};
	nodes->slots = calloc(nodes->slot_count, sizeof(*nodes->slots));
	nodes->callees.lists = malloc(CALLEE_LISTS * sizeof(*nodes->callees.lists));
	return nodes->slots && nodes->callees.lists ? 0 : -1;
}

void nodes_free(struct nodes *nodes)
{
	free(nodes->list);
	free(nodes->slots);
	free(nodes->places);
	free(nodes->sorted);
	free(nodes->callees.lists);
	free(nodes->callees.next);
	free(nodes->callees.last);
	*nodes = (struct nodes){0};
}

void nodes_reset(struct nodes *nodes)
{
	nodes->count = 0;
	memset(nodes->slots, 0, nodes->slot_count * sizeof(*nodes->slots));
}

/* Returns the slot that holds the node, or the free slot where it belongs. */
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

/* Returns the node, added if it is missing; 0 if out of memory. */
static uint32_t node_intern(struct nodes *nodes, uint32_t parent, uint64_t address)
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

		if (!array_grow(&nodes->list, capacity, sizeof(*nodes->list)))
			return 0;
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
		node = node_intern(nodes, node, chain->address[i]);
		if (!node)
			return 0;
	}
	return node;
}

/* The place of a node, root or not, in the order of the file: depth first from each root,
 * with the callees of a node ordered by address. */
struct place {
	uint32_t callee; /* first callee; 0: none */
	uint32_t next;	 /* the caller's next callee; 0: none */
	uint32_t depth;	 /* addresses up to the root */
	uint32_t chain;	 /* number of the chain that ends here */
	bool is_end;	 /* a chain ends here even if there are callees */
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

/* Allocates a place for each node, and clears the lists of callees. -1 if out of memory.
 */
static int make_room(struct nodes *nodes)
{
	size_t count = nodes->count + SAMPLES_ROOTS;
	struct callees *callees = &nodes->callees;

	if (count > nodes->place_capacity) {
		size_t capacity = nodes->capacity + SAMPLES_ROOTS;

		if (!array_grow(&nodes->places, capacity, sizeof(*nodes->places)) ||
		    !array_grow(&nodes->sorted, capacity, sizeof(*nodes->sorted)) ||
		    !array_grow(&callees->next, capacity, sizeof(*callees->next)) ||
		    !array_grow(&callees->last, capacity, sizeof(*callees->last)))
			return -1;
		nodes->place_capacity = capacity;
	}
	memset(nodes->places, 0, count * sizeof(*nodes->places));
	memset(callees->last, 0, count * sizeof(*callees->last));
	memset(callees->lists, 0, CALLEE_LISTS * sizeof(*callees->lists));
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

/* Returns the next node under @node's root in the order of the file; 0 at the end. */
static uint32_t next_node(const struct nodes *nodes, uint32_t node)
{
	const struct place *places = nodes->places;

	if (places[node].callee)
		return places[node].callee;
	while (node >= SAMPLES_ROOTS && !places[node].next)
		node = nodes->list[node - SAMPLES_ROOTS].parent;
	return node < SAMPLES_ROOTS ? 0 : places[node].next;
}

static uint64_t address_of(const struct nodes *nodes, uint32_t node)
{
	return node < SAMPLES_ROOTS ? 0 : nodes->list[node - SAMPLES_ROOTS].address;
}

static void store_call(struct node_columns *columns, uint64_t difference)
{
	uint8_t low[2] = {(uint8_t)difference, (uint8_t)(difference >> 8)};

	buffer_put(&columns->call_low, low, sizeof(low));
	buffer_put_signed(&columns->call, (int64_t)difference >> 16);
}

/* Stores the address of @node, a callee of @caller: as a known callee or a new one. */
static void store_address(struct nodes *nodes, struct node_columns *columns,
			  uint32_t caller, uint32_t node)
{
	struct callees *callees = &nodes->callees;
	uint64_t from = address_of(nodes, caller), address = address_of(nodes, node);
	uint32_t *link = callees_from(callees, caller, from);
	uint32_t beside = callees->last[caller] ? callees->last[caller] : *link, seen = 0;
	bool any = *link;

	while (*link && seen < CALLEE_SEARCH && address_of(nodes, *link) < address) {
		link = &callees->next[*link];
		seen++;
	}
	if (*link && seen < CALLEE_SEARCH && address_of(nodes, *link) == address) {
		buffer_put_varint(&columns->known, seen + 1);
		callees->last[caller] = *link;
		return;
	}
	if (any)
		buffer_put_varint(&columns->known, 0);
	if (beside)
		buffer_put_signed(&columns->near,
				  (int64_t)(address - address_of(nodes, beside)));
	else
		store_call(columns, address - from);
	callees->next[node] = *link;
	*link = callees->last[caller] = node;
}

/* The state of a walk through the tree. */
struct walk {
	uint32_t chains;       /* number of chains stored */
	uint32_t root, length; /* root and length of the last chain */
	uint32_t kept; /* number of nodes that the last chain shares with the next */
};

/* Stores the chain that ends at @node. */
static void store_chain(struct nodes *nodes, struct node_columns *columns,
			struct walk *walk, uint32_t root, uint32_t node)
{
	struct place *place = &nodes->places[node];

	buffer_put_varint(&columns->drop, walk->length - walk->kept + root - walk->root);
	buffer_put_signed(&columns->growth, (int64_t)place->depth - walk->length);
	place->chain = walk->chains++;
	walk->root = root;
	walk->length = walk->kept = place->depth;
}

/* Stores all chains of one root. */
static void store_root(struct nodes *nodes, struct node_columns *columns,
		       struct walk *walk, uint32_t root)
{
	struct place *places = nodes->places;
	uint32_t node = places[root].callee;

	if (places[root].is_end || node)
		walk->kept = 0;
	if (places[root].is_end)
		store_chain(nodes, columns, walk, root, root);
	for (; node; node = next_node(nodes, node)) {
		uint32_t caller = nodes->list[node - SAMPLES_ROOTS].parent;

		places[node].depth = places[caller].depth + 1;
		if (walk->kept > places[caller].depth)
			walk->kept = places[caller].depth;
		store_address(nodes, columns, caller, node);
		if (places[node].is_end || !places[node].callee)
			store_chain(nodes, columns, walk, root, node);
	}
}

int nodes_store(struct nodes *nodes, struct node_columns *columns, uint32_t *stacks,
		size_t count)
{
	struct walk walk = {0};

	buffer_reset(&columns->drop);
	buffer_reset(&columns->growth);
	buffer_reset(&columns->known);
	buffer_reset(&columns->near);
	buffer_reset(&columns->call);
	buffer_reset(&columns->call_low);
	if (make_room(nodes) < 0)
		return -1;
	link_places(nodes);
	for (size_t i = 0; i < count; i++)
		nodes->places[stacks[i]].is_end = true;
	for (uint32_t root = 0; root < SAMPLES_ROOTS; root++)
		store_root(nodes, columns, &walk, root);
	for (size_t i = 0; i < count; i++)
		stacks[i] = nodes->places[stacks[i]].chain;
	return 0;
}
