/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_SAMPLES_NODES_H
#define UNIPROF_FORMAT_SAMPLES_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/buffer.h"
#include "format/recording.h"

/* The tree of call chains of a chunk under construction (FORMAT.md, 5.3). */

/*
 * The known callees of callers, for writing and reading nodes: lists of nodes, ordered by
 * address within the limits of the search. A list is found by the caller's address;
 * several callers may share a list without harm. The number 0 means "no node": it is a
 * root's, which is never a callee.
 */
#define CALLEE_LISTS  16384u
#define CALLEE_SEARCH 32u /* maximum number of entries searched in a list */

struct callees {
	uint32_t *lists; /* first entry of each list */
	uint32_t *next;	 /* next node in the list, by node */
	uint32_t *last;	 /* list entry of the last callee, by node */
};

/* Returns the link at which the search for the next callee of @caller starts: after its
 * last callee, or at the start of the list. */
static inline uint32_t *callees_from(const struct callees *callees, uint32_t caller,
				     uint64_t address)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	if (!callees->last[caller])
		return &callees->lists[address * 0x9e3779b97f4a7c15u >> 50];
	return &callees->next[callees->last[caller]];
}

struct nodes {
	struct node *list; /* nodes in order of insertion, without roots */
	size_t count;	   /* number of nodes, without roots */
	size_t capacity;
	uint32_t *slots; /* node numbers by hash; 0: free */
	size_t slot_count;
	/* Memory of nodes_store(), kept for the next call */
	struct place *places;
	struct keyed *sorted;
	size_t place_capacity;
	struct callees callees;
};

/* Maximum number of bytes that a node takes in the columns. */
#define NODE_BYTES 16

/* Prepares an empty tree. -1 if out of memory; nodes_free() must follow in any case. */
int nodes_init(struct nodes *nodes);
void nodes_free(struct nodes *nodes);
/* Empties the tree; keeps the memory. */
void nodes_reset(struct nodes *nodes);

/* Adds the missing nodes of the chain. Returns the node of its innermost address, or the
 * root of a chain without addresses; 0 for a chain with addresses if out of memory. */
uint32_t nodes_add(struct nodes *nodes, const struct chain *chain);

/* The columns that nodes are stored in, in the order of the file. */
struct node_columns {
	struct buffer drop, growth; /* one number per chain */
	struct buffer known, near;  /* a number in one or both for most nodes */
	struct buffer call_low;	    /* low 16 bits of a number, for the other nodes */
	struct buffer call;	    /* upper bits of the number in @call_low */
};

/* Fills the columns, which are emptied first, and replaces each of the @count nodes in
 * @stacks, returned by nodes_add(), with the number of its chain. -1 if out of memory. */
int nodes_store(struct nodes *nodes, struct node_columns *columns, uint32_t *stacks,
		size_t count);

#endif
