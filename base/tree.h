/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_TREE_H
#define UNIPROF_BASE_TREE_H

#include <stdint.h>

/*
 * A growing tree whose nodes are identified by parent and key, so that equal paths share
 * nodes. Nodes are numbered in order of insertion, parents before their children. The
 * first numbers are the roots, which have no key.
 */
struct tree_node {
	uint64_t key;
	uint32_t parent; /* node number; a root is its own parent */
};

struct tree {
	struct tree_node *nodes;
	uint32_t count; /* roots included */
	uint32_t capacity;
	uint32_t *slots; /* node numbers by hash; TREE_NONE: free */
	unsigned int slot_bits;
	uint64_t seed;
};

#define TREE_NONE UINT32_MAX

/* Starts a tree of @roots roots. -1 if out of memory; tree_free() is then still
 * allowed. */
int tree_init(struct tree *tree, uint32_t roots);
void tree_free(struct tree *tree);
/* Removes all nodes but the @roots of tree_init(), and keeps the memory. */
void tree_clear(struct tree *tree, uint32_t roots);

/* Returns the child of @parent with this key, created if missing; TREE_NONE if out of
 * memory. */
uint32_t tree_intern(struct tree *tree, uint32_t parent, uint64_t key);

/* Returns the child of @parent with this key; TREE_NONE if there is none. */
uint32_t tree_find(const struct tree *tree, uint32_t parent, uint64_t key);

#endif
