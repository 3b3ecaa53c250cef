/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_X86_EXIT_H
#define UNIPROF_UNWIND_X86_EXIT_H

#include "unwind/reader.h"
#include "unwind/unwind.h"

/* Finds frames and return addresses by analyzing x86 code; for unwind/'s files on x86
 * only. */

/*
 * How the function that is stopped at @address returns. @word: 8 in 64-bit code, else 4.
 * Results are stored in the notes and reused from there, if there are any. The search is
 * limited by the budget in the notes, and to UNWIND_CODE_PAGES_MAX pages.
 */
struct x86_exit x86_leave(struct reader *reader, uint64_t address, uint64_t space,
			  unsigned int word);

/*
 * How an entry of interrupts (64-bit code) returns to the interrupted code, from the
 * return address of a call in it: EXIT_BY_INTERRUPT if the code leads to iretq, behind
 * further calls and possibly on another stack. Any other kind if the code is no such
 * entry. Needs no notes, and examines up to CODE_BUDGET_MAX halfwords.
 */
struct x86_exit x86_leave_entry(struct reader *reader, uint64_t address);

/*
 * Whether there is a call before @address, so that it can be a return address. *@target:
 * the target of a direct call, else 0.
 */
bool x86_follows_call(struct reader *reader, uint64_t address, unsigned int word,
		      uint64_t *target);

#endif
