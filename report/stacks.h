/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_STACKS_H
#define UNIPROF_REPORT_STACKS_H

#include "format/samples.h"
#include "report/tree.h"

/*
 * The call chains of a whole recording, each once, and how many samples had
 * each. A chain is a node of a tree: its key is an address, its parent the
 * chain without that address. The first SAMPLES_ROOTS nodes are the ways in
 * which chains end (enum chain_end).
 */
struct stacks {
	struct tree tree;
	uint64_t *self; /* by node: samples with just this chain, weighted */
	uint32_t self_capacity;
	uint32_t *map; /* the last chunk's node numbers, made this tree's */
	size_t map_capacity;
};

/* NULL when memory is short. */
struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks);

/*
 * Counts the samples of a chunk. The chain of its sample i is then the node
 * map[batch->stack[i]]. -1 when memory is short.
 */
int stacks_add(struct stacks *stacks, const struct samples_batch *batch);

/*
 * By node: the samples whose chains pass through it or end at it. The array is
 * the caller's to free; NULL when memory is short.
 */
uint64_t *stacks_inclusive(const struct stacks *stacks);

#endif
