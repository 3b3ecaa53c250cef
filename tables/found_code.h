/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_FOUND_CODE_H
#define UNIPROF_TABLES_FOUND_CODE_H

#include "arch/arch.h"
#include "base/chain.h"
#include "unwind/unwind.h"

/*
 * Code in a guest's memory that no file describes, and an unwind table of it, for x86-64
 * and arm64. It grows with the places where the guest is seen to execute, and to which
 * its functions return.
 *
 * One thread reads code and unwinds by the table. To examine the code takes longer, and
 * another thread may do that meanwhile; the two take turns (record/learning/examiner.h),
 * except that found_code_table() and found_code_check() may be called at any time.
 */
struct found_code;

/* NULL if out of memory. */
struct found_code *found_code_new(void);
/* Takes another reference, for found_code_examine(). Returns @found. */
struct found_code *found_code_share(struct found_code *found);
/* Drops a reference, and frees everything with the last one. @found may be NULL. */
void found_code_free(struct found_code *found);

/* Bytes of code around a place that are examined, at most, and number of such places. */
#define FOUND_CODE_SIZE	 (256u << 10)
#define FOUND_CODE_PARTS 64

/* The number of places so far. */
size_t found_code_parts(const struct found_code *found);

/* Returns whether the code at @place, in the address space of @cpu, may be read and has
 * not been read. */
bool found_code_lacks(const struct found_code *found, const struct cpu *cpu,
		      uint64_t place);

/* Number of pages of code around a place */
#define FOUND_CODE_PAGES (FOUND_CODE_SIZE / GUEST_PAGE_SIZE)

/* Asks for all pages around @place that found_code_read() may read. Returns the number of
 * pages, at most FOUND_CODE_PAGES, that are there or known already. */
size_t found_code_ask(const struct found_code *found, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t place);

/* Reads the code around the first address of @chain, which @cpu has, that is not in known
 * code. To be called while the guest runs. True if there is code to examine. */
bool found_code_read(struct found_code *found, const struct cpu *cpu,
		     const struct guest_memory *memory, const struct chain *chain);

/* Examines the code that was just read, and makes a table of all code. Takes some 10 ms
 * for 256 KB, or less once the caller has the only reference left. */
void found_code_examine(struct found_code *found);

/*
 * Puts the table of the last found_code_examine() to use. True if found_code_table()
 * returns a new table from now on, which was locked in memory. The old table is freed by
 * the next found_code_examine().
 */
bool found_code_renew(struct found_code *found);

/* The table of all examined code; NULL if there is none yet. Owned by @found; never
 * changed. */
const struct unwind_table *found_code_table(const struct found_code *found);

/* Returns the address space whose lower half, the programs' one, was read; all others
 * have other programs, of which nothing is read. 0: nothing was read there. */
uint64_t found_code_space(const struct found_code *found);

/*
 * Ends the chain, of the address space @space, before a return address in found code that
 * does not follow a call, unless a file's table in @input led there. A chain that ends in
 * found code is whole only if its last function has no caller.
 */
void found_code_check(const struct found_code *found, const struct unwind_input *input,
		      uint64_t space, struct chain *chain);

#endif
