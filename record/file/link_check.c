/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/link_check.h"

#include <stdlib.h>

/* Number of comparisons in the cache: chains have most of their links in common */
#define NOTES 16384

struct note {
	const struct program_table *table; /* NULL: not used */
	uint64_t moves;			   /* see moves_of() */
	uint64_t caller, callee;
	enum program_link link;
};

struct link_check {
	unsigned int left; /* comparisons allowed until the next link_check_renew() */
	struct note note[NOTES];
};

struct link_check *link_check_new(void)
{
	struct link_check *check = calloc(1, sizeof(*check));

	if (check)
		link_check_renew(check);
	return check;
}

void link_check_free(struct link_check *check)
{
	free(check);
}

void link_check_renew(struct link_check *check)
{
	check->left = LINK_CHECKS;
}

/* Returns a number that tells where guests have which programs of a table. */
static uint64_t moves_of(const struct placed_table *placed)
{
	uint64_t moves = 0;

	/* Programs are moved by whole pages. */
	for (size_t i = 0; i < placed->table->origins; i++)
		moves = moves * 0x9e3779b97f4a7c15 +
			(placed->is_found[i] ? placed->shift[i] : 1);
	return moves;
}

static enum program_link check_link(struct link_check *check,
				    const struct placed_table *placed, uint64_t moves,
				    uint64_t caller, uint64_t callee)
{
	/* 2^64 divided by the golden ratio spreads close addresses. */
	uint64_t key = (caller ^ callee << 20) * 0x9e3779b97f4a7c15;
	struct note *note = &check->note[(key >> 32) % NOTES];

	if (note->table == placed->table && note->moves == moves &&
	    note->caller == caller && note->callee == callee)
		return note->link;
	if (!check->left)
		return LINK_UNKNOWN;
	check->left--;
	*note = (struct note){placed->table, moves, caller, callee,
			      placed_table_check_link(placed, caller, callee)};
	return note->link;
}

void link_check_sample(struct link_check *check, const struct placed_table *placed,
		       struct sample *sample, uint64_t counts[LINK_KINDS])
{
	struct chain *chain = &sample->chain;
	uint64_t moves = moves_of(placed);

	for (uint32_t i = 1; i < chain->count; i++) {
		uint64_t callee = chain->address[i - 1], caller = chain->address[i];
		enum program_link link;

		if (chain_mark_name(callee) || chain_mark_name(caller))
			continue;
		/* The byte before a return address is in the call. */
		link = check_link(check, placed, moves, caller, callee - (i > 1));
		counts[link] += sample->weight;
		if (link == LINK_IMPOSSIBLE) {
			chain->count = i;
			chain->end = CHAIN_NOT_CALLED;
		}
	}
}
