/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_STACKS_H
#define UNIPROF_REPORT_MODEL_STACKS_H

#include <stdbool.h>

#include "base/tree.h"
#include "format/samples.h"

/*
 * The call chains of a whole recording, each once per domain, and the weights of their
 * samples. The first SAMPLES_ROOTS nodes of the tree are the ends of chains (enum
 * chain_end); their children are domains, with the index as the key; all other nodes are
 * addresses, whose parent is the chain without that address. A domain's node is also its
 * chain without addresses. Some nodes may be part of no chain that counts: their samples
 * were dropped by a filter.
 */
struct stacks {
	struct tree tree;
	uint64_t *self;	  /* by node: sum of the samples with exactly this chain */
	uint32_t *domain; /* by node, except the roots: the domain's index */
	uint32_t capacity;
	uint32_t filled; /* nodes whose domain is set */

	/* For the last chunk: */
	uint32_t *chains; /* by sample: its chain; TREE_NONE for a sample that counts 0 */
	uint32_t *next;	  /* by sample: the next sample of its domain */
	size_t sample_capacity;
	uint32_t *map;	      /* by the chunk's node: this tree's node, for a domain */
	uint32_t *map_domain; /* by the chunk's node: the domain that map[] is for */
	size_t map_capacity;
	uint32_t *heads; /* by domain: its first sample; TREE_NONE between chunks */
	uint32_t head_room;
};

/* NULL if out of memory. */
struct stacks *stacks_new(void);
void stacks_free(struct stacks *stacks);

/* Adds the samples of a chunk, each with its weight in @counts. -1 if out of memory. */
int stacks_add(struct stacks *stacks, const struct samples_batch *batch,
	       const uint64_t *counts);

/*
 * The two steps of stacks_add(), between which chains[] and @counts may be changed: finds
 * the chains of the samples that count, and adds the samples that still count. -1 if out
 * of memory.
 */
int stacks_find(struct stacks *stacks, const struct samples_batch *batch,
		const uint64_t *counts);
int stacks_count(struct stacks *stacks, const uint64_t *counts, size_t count);

/* Returns the chain of the @depth innermost addresses of @chain, which ends as @chain
 * does; TREE_NONE if out of memory. */
uint32_t stacks_cut(struct stacks *stacks, uint32_t chain, uint32_t depth);

/* Puts, between stacks_find() and filter_batch(), why a vCPU was not in the guest's code
 * below the code that it left, in the chains of the chunk's samples that count. -1 if out
 * of memory. */
int stacks_add_exits(struct stacks *stacks, const struct samples_batch *batch,
		     const uint64_t *counts);

/* Returns the chain that the outermost interrupt in @chain interrupted, as if the
 * interrupted code had been sampled; @chain if there is no interrupt. TREE_NONE if out of
 * memory. */
uint32_t stacks_interrupted(struct stacks *stacks, uint32_t chain);

/* Whether the node is an address: neither a root nor a domain. */
static inline bool stacks_is_address(const struct stacks *stacks, uint32_t node)
{
	return stacks->tree.nodes[node].parent >= SAMPLES_ROOTS;
}

/*
 * Returns, by node, the sum of the samples whose chains pass through the node or end at
 * it. The caller frees the array; NULL if out of memory.
 */
uint64_t *stacks_inclusive(const struct stacks *stacks);

/*
 * Calls @visit for each address of the chains that count: as a sampled instruction, as a
 * caller's return address, or as both, one after the other. Nodes come before their
 * callees. -1 if @visit returns -1, or if out of memory.
 */
int stacks_visit(const struct stacks *stacks,
		 int (*visit)(void *arg, uint32_t node, bool is_caller), void *arg);

#endif
