/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_TABLE_CHECK_H
#define UNIPROF_RECORD_LEARNING_TABLE_CHECK_H

#include "guest/guest.h"
#include "tables/program_table.h"

enum table_state {
	TABLE_NONE,    /* none was given */
	TABLE_PENDING, /* the programs' code was not seen yet */
	TABLE_USED,
	TABLE_REFUSED, /* the guest runs other programs */
};

/* Whether a guest runs the programs of a table, and the table as it fits the guest.
 * Starts as zeros, but for the program and the state. */
struct table_check {
	const struct program_table *program; /* NULL: none */
	enum table_state state;
	/* Why the table is not used, if it is TABLE_PENDING or TABLE_REFUSED. */
	struct error why;
	uint64_t due; /* when to check next: ns, monotonic */

	const struct unwind_table *table; /* to unwind by; NULL unless TABLE_USED */
	uint64_t shift;		    /* of the Linux kernel from the table's addresses */
	struct unwind_table *moved; /* the table for that place; NULL: not needed */
	/* The rules for the page that Xen fills with hypercalls; NULL: not found yet. */
	struct unwind_table *hypercalls;
};

void table_check_free(struct table_check *check);

/*
 * Compares the table's programs with the guest's memory, as the vCPUs saw it in the last
 * pause, if it is time: until the table is used or refused, then until its hypercalls are
 * found. @memory maps pages; @now: ns, monotonic. True if the table is used from now on.
 */
bool table_check_run(struct table_check *check, const struct guest *guest,
		     const struct guest_memory *memory, uint64_t now);

#endif
