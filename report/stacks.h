/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_STACKS_H
#define UNIPROF_REPORT_STACKS_H

#include <stdbool.h>

#include "format/samples.h"
#include "report/tree.h"

/*
 * The call chains of a whole recording, each once for each domain, and what its
 * samples count for. The first SAMPLES_ROOTS nodes of the tree are the ways in
 * which chains end (enum chain_end); their children are domains, the key being
 * the index; all other nodes are addresses, and the chain without that address is
 * the parent. A domain's node is also its chain without addresses. Nodes through which
 * no chain passes that counts are those of samples that a filter left out.
 */
struct stacks {
	struct tree tree;
	uint64_t *self;	  /* by node: what samples with just this chain count for */
	uint16_t *domain; /* by node but the roots: the domain's index */
	uint32_t capacity;
	uint32_t filled; /* nodes whose domain is set */

	/* Of the last chunk: */
	uint32_t *chains; /* by sample: its chain; TREE_NONE when it counts 0 */
	uint32_t *next;	  /* by sample: the next one of its domain */
	size_t sample_capacity;
	uint32_t *map;	      /* by the chunk's node: this tree's, for a domain */
	uint32_t *map_domain; /* which one that is */
	size_t map_capacity;
	uint32_t *heads; /* by domain: its first sample; TREE_NONE between chunks */
};

/* NULL when memory is short. */
struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks);

/* Counts the samples of a chunk, each for its place in @counts. -1 when memory is
 * short. */
int stacks_add(struct stacks *stacks, const struct samples_batch *batch,
	       const uint64_t *counts);

/*
 * The same in two steps, between which chains[] and @counts may be changed: finds the
 * chains of the samples that count, and counts those that still do. -1 when memory is
 * short.
 */
int stacks_find(struct stacks *stacks, const struct samples_batch *batch,
		const uint64_t *counts);
int stacks_count(struct stacks *stacks, const uint64_t *counts, size_t count);

/* The chain of the @depth innermost addresses of @chain; TREE_NONE when memory is
 * short. It ends as @chain does. */
uint32_t stacks_cut(struct stacks *stacks, uint32_t chain, uint32_t depth);

/* Whether the node is an address: neither a root nor a domain. */
static inline bool stacks_is_address(const struct stacks *stacks, uint32_t node)
{
	return stacks->tree.nodes[node].parent >= SAMPLES_ROOTS;
}

/*
 * By node: the counts of samples whose chains pass through it or end at it. The
 * array is the caller's to free; NULL when memory is short.
 */
uint64_t *stacks_inclusive(const struct stacks *stacks);

#endif
