/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_TABLE_CHECK_H
#define UNIPROF_RECORD_LEARNING_TABLE_CHECK_H

#include "guest/guest.h"
#include "record/learning/spaces.h"
#include "record/sampling.h"
#include "tables/program_table.h"

enum table_state {
	TABLE_NONE,    /* no table was given */
	TABLE_PENDING, /* none of its programs was found yet */
	TABLE_USED,    /* for those of its programs that were found */
	TABLE_REFUSED, /* the guest runs none of its programs */
};

/* Whether a guest runs the programs of a table, and the table as it fits the guest.
 * Starts as zeros, but for the table and the state. */
struct table_check {
	struct placed_table placed; /* the programs, and where the guest has them */
	enum table_state state;
	unsigned int checks; /* number of checks */
	/* what is known of a program that was not found; by program */
	struct table_miss {
		unsigned int misfits; /* number of checks that found other code */
		bool is_given_up;     /* looked for rarely, and the user was told */
		bool is_final;	      /* given up, and no longer looked for */
		struct error why;     /* empty before the first check */
	} miss[TABLE_ORIGINS];
	uint64_t due;	  /* time of the next check, ns, monotonic */
	uint64_t space;	  /* of a vCPU in the last check; 0: not known */
	bool has_several; /* vCPUs were seen in other address spaces, too */
	bool was_blind;	  /* the last check had no vCPU's registers */

	const struct unwind_table *table; /* to unwind by; NULL unless TABLE_USED */
	struct unwind_table *made; /* the table for the guest; NULL: it is as given */
	struct spaces spaces;	   /* the tables of address spaces that need their own */
	/* rules for the page that Xen fills with hypercalls; NULL: not found yet */
	struct unwind_table *hypercalls;
};

void table_check_free(struct table_check *check);

/* Whether the table may soon turn out to describe the code that the guest runs. It is not
 * waited for after some checks, but may be found later. */
bool table_check_is_open(const struct table_check *check);

/* Returns why the table is pending or refused; an empty text if it was never checked. */
const char *table_check_why(const struct table_check *check);

/*
 * Compares the table's programs with the guest's memory, as the vCPUs saw it in the last
 * pause, whose samples are in @round, if a check is due. Each program is judged by
 * itself, as long as it is not found. Once several checks have found other code at its
 * address, it is given up, but looked for to the end, at longer intervals: what ran may
 * have been another program at the address. Programs that the guest has moved are looked
 * for by the code of the chains. Checks end once all programs are found, or can't be, and
 * hypercalls are found. One that had no vCPU's registers is made up for as soon as there
 * are some. @memory maps pages.
 * True if there is a table of more programs from now on.
 */
bool table_check_run(struct table_check *check, const struct guest *guest,
		     const struct guest_memory *memory, const struct round *round);

#endif
