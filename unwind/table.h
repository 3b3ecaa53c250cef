/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_TABLE_H
#define UNIPROF_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * Unwind tables: for each instruction of a program, where its function's caller is. They
 * are made before a guest is paused, from DWARF's call frame information or from machine
 * code, and never changed afterwards.
 */

/* How to get from a function to its caller. */
enum unwind_kind {
	UNWIND_UNKNOWN,	  /* the table does not say; other rules may */
	UNWIND_CALLER,	  /* as the rule says */
	UNWIND_OUTERMOST, /* there is no caller */
	/* The code that an interrupt or a signal stopped. Its registers are in memory:
	 * the rule's offsets are from the register + cfa, and word is its stack
	 * pointer's. */
	UNWIND_INTERRUPTED,
	/* The program that made a system call, where the kernel has saved nothing yet, or
	 * nothing is left: its address is in the register other. word is UNWIND_KEPT, or
	 * where its stack pointer is from the stack pointer on; UNWIND_LOST: nowhere. */
	UNWIND_CALLED_SYSTEM,
};

/* An offset in an unwind_rule: the register still holds its value. */
#define UNWIND_KEPT INT32_MIN
/* The caller's value is not known. */
#define UNWIND_LOST INT32_MAX

/*
 * The caller of a function at one of its instructions. The canonical frame address (CFA;
 * DWARF 5, section 6.4) is the caller's stack pointer: the value of a register, or of the
 * word at @word from there, plus @cfa. The other offsets are bytes from the CFA.
 */
struct unwind_rule {
	uint8_t kind;	/* enum unwind_kind */
	bool from_fp;	/* the register is the frame pointer, else the stack pointer */
	bool from_word; /* the CFA is relative to the word in memory at register + word */
	bool fp_by_register; /* fp is bytes from the register instead of from the CFA */
	int32_t word;
	int32_t cfa;
	int32_t caller; /* the return address; UNWIND_KEPT: in the link register */
	int32_t fp;	/* the caller's frame pointer, UNWIND_KEPT or UNWIND_LOST */
	/* 0, or 1 + the number of another register, in the order of struct x86_cpu or
	 * struct arm_cpu, which is known only in the sampled function. The register that
	 * the CFA is relative to, except for UNWIND_CALLED_SYSTEM. */
	uint8_t other;
	/* Set in tables only: the return address is at a distance from the stack pointer
	 * or the frame pointer, as for nearly all instructions. */
	bool is_plain;
};

struct unwind_table;
struct unwind_builder;

/* NULL if out of memory. */
struct unwind_builder *unwind_builder_new(void);
void unwind_builder_free(struct unwind_builder *builder);

/*
 * The rule applies from @start up to @end, excluded, unless a previous call gave one for
 * an address: the first rule stays. Nothing is added for UNWIND_UNKNOWN, or if @start is
 * not below @end. -1 if out of memory or over the limits of tables.
 */
int unwind_builder_add(struct unwind_builder *builder, uint64_t start, uint64_t end,
		       const struct unwind_rule *rule);

/* Makes a table of what was added, to be freed with unwind_table_free(). NULL if out of
 * memory. The table's memory is one block, so that it can be locked. More can be added
 * to the builder afterwards, for another table. */
struct unwind_table *unwind_builder_finish(struct unwind_builder *builder);
void unwind_table_free(struct unwind_table *table);

/* A copy of the table in which the rules from @start up to @end are @distance bytes
 * higher, a multiple of 4096. NULL if out of memory. */
struct unwind_table *unwind_table_move(const struct unwind_table *table, uint64_t start,
				       uint64_t end, uint64_t distance);

/* Locks the table's memory, so that no lookup faults: 0, or -1 with errno set. */
int unwind_table_lock(const struct unwind_table *table);

/* The table's memory, and its number of rows; for messages and tests. */
const void *unwind_table_memory(const struct unwind_table *table, size_t *size);
size_t unwind_table_rows(const struct unwind_table *table);

/* A random number that no other table has: what is remembered about a table can be told
 * from what belongs to an earlier one. */
uint64_t unwind_table_serial(const struct unwind_table *table);

/* The rule for the instruction at @address; NULL if there is none. Takes bounded time and
 * no lock: it is called while a guest is paused. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table,
					    uint64_t address);

/* Writes the table to @fd. -1 with @err set on failure. */
int unwind_table_write(const struct unwind_table *table, int fd, struct error *err);
/* Reads a table from memory, which it checks and copies. NULL with @err set on failure.
 */
struct unwind_table *unwind_table_read(const void *data, size_t size, struct error *err);

#endif
