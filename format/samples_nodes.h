/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_SAMPLES_NODES_H
#define UNIPROF_FORMAT_SAMPLES_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "format/buffer.h"
#include "format/recording.h"

/* The tree of call chains of a chunk while it is made (FORMAT.md, 5.3). */

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
	struct guesses *guesses;
};

/* How many bytes a node takes in the columns, at most. */
#define NODE_BYTES 12

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
	struct buffer level, address;
	struct buffer inner_ends;
};

/*
 * Fills the columns, which are emptied first, and replaces each of the @count nodes in
 * @stacks, which samples_add() gave, by its number among the ends. -1 when memory is
 * short.
 */
int nodes_store(struct nodes *nodes, struct node_columns *columns, uint32_t *stacks,
		size_t count);

/*
 * Addresses are stored as differences to a guess. Callees of the same address have
 * mostly been met in the same order before: the guess is the address that came last
 * with the same caller's address, and the same address of the callee before it, 0 for
 * the caller's first one. Before there is one, it is that callee's address, or the
 * caller's.
 */
#define GUESS_SLOTS 16384u

struct guesses {
	uint64_t slot[GUESS_SLOTS]; /* by hash; 0: none came */
};

/* Where the guess is, and is to be replaced by the address. */
static inline uint64_t *guess_of(struct guesses *guesses, uint64_t caller,
				 uint64_t before)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	uint64_t *slot =
		&guesses->slot[(caller * 3 + before) * 0x9e3779b97f4a7c15u >> 50];

	if (!*slot)
		*slot = before ? before : caller;
	return slot;
}

#endif
