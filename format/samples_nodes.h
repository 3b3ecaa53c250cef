/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_SAMPLES_NODES_H
#define UNIPROF_FORMAT_SAMPLES_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/buffer.h"
#include "format/recording.h"

/* The tree of call chains of a chunk while it is made (FORMAT.md, 5.3). */

/*
 * What callers are known to call, for those who write nodes and those who read them:
 * lists of nodes, in the order of their addresses as far as they were looked through.
 * One is found by the caller's address; callers that share one do no harm. 0 is none:
 * a root, which nothing calls.
 */
#define CALLEE_LISTS  16384u
#define CALLEE_SEARCH 32u /* how many of a list are looked at, at most */

struct callees {
	uint32_t *lists; /* the first of each */
	uint32_t *next;	 /* by node: the one behind it in its list */
	uint32_t *last;	 /* by node: the list's one that stands for its last callee */
};

/* The link from which on the next callee of @caller is looked for, which has that
 * address: behind the last one, or at the start of the list. */
static inline uint32_t *callees_from(const struct callees *callees, uint32_t caller,
				     uint64_t address)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	if (!callees->last[caller])
		return &callees->lists[address * 0x9e3779b97f4a7c15u >> 50];
	return &callees->next[callees->last[caller]];
}

struct nodes {
	struct node *list; /* as they came, without the roots */
	size_t count;	   /* stored ones */
	size_t capacity;
	uint32_t *slots; /* node numbers by hash, 0 where free */
	size_t slot_count;
	/* For nodes_store(), kept as they are needed again: */
	struct place *places;
	struct keyed *sorted;
	size_t place_capacity;
	struct callees callees;
};

/* How many bytes a node takes in the columns, at most. */
#define NODE_BYTES 16

/* -1 when memory is short; nodes_free() is due either way. */
int nodes_init(struct nodes *nodes);
void nodes_free(struct nodes *nodes);
/* Empties it, keeps its memory. */
void nodes_reset(struct nodes *nodes);

/* The node of the chain's innermost address, all made that are new; 0 when memory is
 * short and the chain has addresses. */
uint32_t nodes_add(struct nodes *nodes, const struct chain *chain);

/* The columns that they are stored as, in the order of the file. */
struct node_columns {
	struct buffer drop, growth; /* a number for each chain */
	struct buffer known, near;  /* for most nodes, one of these or both */
	struct buffer call_low;	    /* for all others: 16 bits of a number, */
	struct buffer call;	    /* and what is above them */
};

/*
 * Fills the columns, which are emptied first, and replaces each of the @count nodes in
 * @stacks, which samples_add() gave, by its number among the chains. -1 when memory is
 * short.
 */
int nodes_store(struct nodes *nodes, struct node_columns *columns, uint32_t *stacks,
		size_t count);

#endif
