/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_FLAME_FLAME_TREE_H
#define UNIPROF_OUTPUT_FLAME_FLAME_TREE_H

#include "base/tree.h"
#include "report/model/calls.h"

#define FLAME_SIDES 2

/* The call chains of one report, or of two to compare, for a flame graph */
struct flame_tree {
	struct tree tree;		 /* one root, for the total; keys are functions */
	uint64_t (*counts)[FLAME_SIDES]; /* by node, callees included */
	uint32_t capacity;		 /* number of counts allocated */
	bool has_domains;		 /* the root's callees are domains */
};

/* -1 if out of memory; flame_tree_free() must be called either way. */
int flame_tree_init(struct flame_tree *tree, bool has_domains);
void flame_tree_free(struct flame_tree *tree);

/*
 * Adds all calls, in order, to the counts of @side. @keys has the tree's keys by
 * function; NULL: keys are the functions. -1 if out of memory.
 */
int flame_tree_add(struct flame_tree *tree, const struct calls *calls, unsigned int side,
		   const uint32_t *keys);

#endif
