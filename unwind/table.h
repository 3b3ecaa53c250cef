/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_TABLE_H
#define UNIPROF_UNWIND_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Unwind tables: for each instruction of a program, where its function's caller is.
 * tables/ makes them before a guest is paused; they are never changed afterwards.
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
	/* Set in tables only: the rule is from code of which nothing but the bytes is
	 * known, and may be wrong. */
	bool is_guess;
};

/* In one block of memory, so that it can be locked. */
struct unwind_table;

/* @table may be NULL. */
void unwind_table_free(struct unwind_table *table);

/* Locks the table's memory, so that no lookup faults: 0, or -1 with errno set. */
int unwind_table_lock(const struct unwind_table *table);

/* The table's memory, and its number of rows; for messages and tests. */
const void *unwind_table_memory(const struct unwind_table *table, size_t *size);
size_t unwind_table_rows(const struct unwind_table *table);

/* A random number that no other table has: it tells cached facts about this table from
 * facts about an earlier one. */
uint64_t unwind_table_serial(const struct unwind_table *table);

/* The rule for the instruction at @address; NULL if there is none. Takes bounded time and
 * no lock: it is called while a guest is paused. */
const struct unwind_rule *unwind_table_find(const struct unwind_table *table,
					    uint64_t address);

#endif
