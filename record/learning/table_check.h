/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_TABLE_CHECK_H
#define UNIPROF_RECORD_LEARNING_TABLE_CHECK_H

#include "guest/guest.h"
#include "record/sampling.h"
#include "tables/program_table.h"

enum table_state {
	TABLE_NONE,    /* no table was given */
	TABLE_PENDING, /* the programs' code was not seen yet */
	TABLE_USED,
	TABLE_REFUSED, /* the guest runs other programs */
};

/* Whether a guest runs the programs of a table, and the table as it fits the guest.
 * Starts as zeros, but for the table and the state. */
struct table_check {
	struct placed_table placed; /* the programs, and where the guest has them */
	enum table_state state;
	unsigned int checks;  /* number of checks */
	unsigned int misfits; /* number of checks that found other programs */
	/* the reason for TABLE_PENDING or TABLE_REFUSED */
	struct error why;
	uint64_t due; /* time of the next check, ns, monotonic */

	const struct unwind_table *table; /* to unwind by; NULL unless TABLE_USED */
	struct unwind_table *moved; /* the table for the guest; NULL: it is as made */
	/* rules for the page that Xen fills with hypercalls; NULL: not found yet */
	struct unwind_table *hypercalls;
};

void table_check_free(struct table_check *check);

/* Whether the table may still turn out to describe the guest's code. A table that was
 * found, and is not known to fit after some checks, is not waited for any longer. */
bool table_check_is_open(const struct table_check *check);

/*
 * Compares the table's programs with the guest's memory, as the vCPUs saw it in the last
 * pause, whose samples are in @round, if a check is due. Programs that the guest has
 * moved are looked for by the code of the chains. Checks end once the table is refused,
 * or once it is used and its hypercalls are found. @memory maps pages. True if the table
 * is used from now on.
 */
bool table_check_run(struct table_check *check, const struct guest *guest,
		     const struct guest_memory *memory, const struct round *round);

#endif
