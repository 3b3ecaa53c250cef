/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_FOUND_CODE_H
#define UNIPROF_TABLES_FOUND_CODE_H

#include "arch/arch.h"
#include "unwind/table/table.h"

/*
 * Code in a guest's memory that no file describes, and an unwind table of it. x86-64
 * only. It grows with the places where the guest is seen to execute.
 */
struct found_code;

/* NULL if out of memory. */
struct found_code *found_code_new(void);
void found_code_free(struct found_code *found);

/* Bytes of code around a place that are examined, at most, and number of such places. */
#define FOUND_CODE_SIZE	 (256u << 10)
#define FOUND_CODE_PARTS 64

/*
 * Reads the code around the place where @cpu executes, unless it is known, and makes a
 * new table of all code. To be called while the guest runs: with 256 KB of new code, it
 * takes 20 to 50 ms. True if there is a new table; the old one is then freed.
 */
bool found_code_look(struct found_code *found, const struct cpu *cpu,
		     const struct guest_memory *memory);

/* Locked in memory; NULL if there is none yet. Owned by @found, up to its next table. */
const struct unwind_table *found_code_table(const struct found_code *found);

/* Ends the chain before a return address in that code that is not behind a call. */
void found_code_check(const struct found_code *found, struct chain *chain);

#endif
