/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_FLAME_TREE_H
#define UNIPROF_REPORT_FLAME_TREE_H

#include "report/calls.h"
#include "report/tree.h"

#define FLAME_SIDES 2

/* Call chains as a flame graph has them: those of one report, or of two that are
 * compared. */
struct flame_tree {
	struct tree tree;		 /* one root, for all; the keys tell functions */
	uint64_t (*counts)[FLAME_SIDES]; /* by node, callees included */
	uint32_t capacity;		 /* of counts */
	bool has_domains;		 /* the root's callees are domains */
};

/* -1 when memory is short; flame_tree_free() is due either way. */
int flame_tree_init(struct flame_tree *tree, bool has_domains);
void flame_tree_free(struct flame_tree *tree);

/*
 * Adds all calls, in their order, to the counts of @side. The tree's keys are those in
 * @keys, by function; NULL: the functions themselves. -1 when memory is short.
 */
int flame_tree_add(struct flame_tree *tree, const struct calls *calls, unsigned int side,
		   const uint32_t *keys);

#endif
