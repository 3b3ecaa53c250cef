/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define FIRST_SLOT_BITS 6

static uint32_t *make_slots(unsigned int bits)
{
	size_t size = sizeof(uint32_t) << bits;
	uint32_t *slots = malloc(size);

	if (slots)
		memset(slots, 0xff, size);
	return slots;
}

int tree_init(struct tree *tree, uint32_t roots)
{
	*tree = (struct tree){.slot_bits = FIRST_SLOT_BITS};
	while ((1u << tree->slot_bits) / 2 < roots)
		tree->slot_bits++;
	tree->capacity = (1u << tree->slot_bits) / 2;
	tree->nodes = malloc(tree->capacity * sizeof(*tree->nodes));
	tree->slots = make_slots(tree->slot_bits);
	if (!tree->nodes || !tree->slots)
		return -1;
	tree->seed = hash_seed() | 1;
	for (uint32_t i = 0; i < roots; i++)
		tree->nodes[i] = (struct tree_node){.parent = i};
	tree->count = roots;
	return 0;
}

void tree_free(struct tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	*tree = (struct tree){0};
}

void tree_clear(struct tree *tree, uint32_t roots)
{
	memset(tree->slots, 0xff, sizeof(*tree->slots) << tree->slot_bits);
	tree->count = roots;
}

/* Returns the slot that holds the node, or the free slot where it belongs. */
static size_t slot_of(const struct tree *tree, uint32_t parent, uint64_t key)
{
	size_t mask = ((size_t)1 << tree->slot_bits) - 1, slot;
	uint64_t hash = key * tree->seed + parent;

	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	hash = (hash ^ hash >> 32) * 0x9e3779b97f4a7c15u;
	slot = (size_t)(hash >> (64 - tree->slot_bits));
	while (tree->slots[slot] != TREE_NONE) {
		const struct tree_node *node = &tree->nodes[tree->slots[slot]];

		if (node->key == key && node->parent == parent)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

/* Doubles the space for nodes, and the table, which stays at most half full. */
static int tree_grow(struct tree *tree)
{
	uint32_t capacity = tree->capacity * 2;
	uint32_t *slots;

	if (tree->capacity > TREE_NONE / 2)
		return -1;
	if (!array_grow(&tree->nodes, capacity, sizeof(*tree->nodes)))
		return -1;
	slots = make_slots(tree->slot_bits + 1);
	if (!slots)
		return -1;
	free(tree->slots);
	tree->slots = slots;
	tree->slot_bits++;
	tree->capacity = capacity;
	for (uint32_t i = 0; i < tree->count; i++) {
		const struct tree_node *node = &tree->nodes[i];

		if (node->parent != i)
			slots[slot_of(tree, node->parent, node->key)] = i;
	}
	return 0;
}

uint32_t tree_intern(struct tree *tree, uint32_t parent, uint64_t key)
{
	const struct tree_node *next = &tree->nodes[parent + 1];
	size_t slot;

	/* Fast path: a path is usually added at once, so its nodes are consecutive. */
	if (parent + 1 < tree->count && next->parent == parent && next->key == key)
		return parent + 1;
	slot = slot_of(tree, parent, key);
	if (tree->slots[slot] != TREE_NONE)
		return tree->slots[slot];
	if (tree->count == tree->capacity) {
		if (tree_grow(tree) < 0)
			return TREE_NONE;
		slot = slot_of(tree, parent, key);
	}
	tree->nodes[tree->count] = (struct tree_node){key, parent};
	tree->slots[slot] = tree->count;
	return tree->count++;
}

uint32_t tree_find(const struct tree *tree, uint32_t parent, uint64_t key)
{
	return tree->slots[slot_of(tree, parent, key)];
}
