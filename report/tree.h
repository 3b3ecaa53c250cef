/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_TREE_H
#define UNIPROF_REPORT_TREE_H

#include <stdint.h>

/*
 * A growing tree where a node is known by its parent and a key, so that equal
 * paths are the same node. Nodes are numbered as they come, parents before
 * their children; the first numbers are the roots, which have no key.
 */
struct tree_node {
	uint64_t key;
	uint32_t parent; /* a root is its own */
};

struct tree {
	struct tree_node *nodes;
	uint32_t count; /* roots included */
	uint32_t capacity;
	uint32_t *slots; /* node numbers by hash, TREE_NONE where free */
	unsigned int slot_bits;
	uint64_t seed;
};

#define TREE_NONE UINT32_MAX

/* -1 when memory is short; tree_free() is then harmless. */
int tree_init(struct tree *tree, uint32_t roots);
void tree_free(struct tree *tree);

/* The child of @parent with this key, made if need be; TREE_NONE when memory is
 * short. */
uint32_t tree_intern(struct tree *tree, uint32_t parent, uint64_t key);

/* The same where it is there already; TREE_NONE where it is not. */
uint32_t tree_find(const struct tree *tree, uint32_t parent, uint64_t key);

#endif
