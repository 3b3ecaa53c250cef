/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_SPACES_H
#define UNIPROF_RECORD_LEARNING_SPACES_H

#include "guest/guest.h"
#include "record/sampling.h"
#include "tables/program_table.h"
#include "unwind/unwind.h"

/* Address spaces that are known at a time, and different tables for them */
#define SPACES_MAX	  32
#define SPACES_TABLES_MAX 8

/*
 * Which of a table's programs the address spaces of a guest have, and the tables of those
 * that lack some, have them elsewhere, or have one of several programs at one address.
 * Starts as zeros.
 */
struct spaces {
	struct unwind_space list[SPACES_MAX]; /* to unwind by */
	/* What else is known of the spaces, in the order of the list. */
	struct space_facts {
		uint64_t due;		  /* when it is looked at again, ns, monotonic */
		struct placed_table here; /* the programs that it has */
		/* bit n: program n is where the other spaces have it */
		uint64_t programs;
	} facts[SPACES_MAX];
	size_t count;
	struct spaces_table {
		struct placed_table placed; /* the programs in the table */
		struct unwind_table *table; /* owned */
	} table[SPACES_TABLES_MAX];
	size_t tables;
};

/* Forgets and frees everything: also when another program is found. */
void spaces_free(struct spaces *spaces);

/* Looks which programs are in the address spaces of the vCPUs, unless that was done
 * lately: a space may be another process's later. The @round has their chains. True if a
 * space has another table now. While the guest runs. */
bool spaces_look(struct spaces *spaces, const struct placed_table *placed,
		 const struct guest *guest, const struct guest_memory *memory,
		 const struct round *round);

/* Lists up to @most address spaces of the programs that are at the address of another
 * one, and returns their number. */
struct rival_space {
	uint64_t program; /* its number among those that were found */
	uint64_t space;
};
size_t spaces_rivals(const struct spaces *spaces, const struct placed_table *placed,
		     struct rival_space *list, size_t most);

/* Returns the programs of an address space; NULL if it was never looked at. */
const struct placed_table *spaces_placed(const struct spaces *spaces, uint64_t space);

/* Returns the programs that an address space may have where they were found first, a bit
 * each: all if it was never looked at. */
uint64_t spaces_programs(const struct spaces *spaces, uint64_t space);

#endif
