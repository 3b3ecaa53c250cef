/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_ARM32_H
#define UNIPROF_UNWIND_ARM32_H

#include "unwind/reader.h"

/* Finds frames by analyzing AArch32 code; for unwind/'s files on AArch32 only. */

/* How a function returns, according to the code from one of its instructions on. */
struct arm32_exit {
	enum {
		EXIT_UNKNOWN,
		EXIT_LINK,  /* the return address is in the link register */
		EXIT_STACK, /* the return address is in the word at caller */
	} kind;
	uint32_t caller;
	/* The location of the caller's frame pointer, if not its register: [is_thumb]. */
	bool has_saved[2];
	uint32_t saved[2];
};

/* @sp and @fp: the values of the stack pointer and of the instruction set's frame pointer
 * before the instruction at @address. */
struct arm32_exit arm32_leave(struct reader *reader, uint32_t address, bool is_thumb,
			      uint32_t sp, uint32_t fp);

/* The locations of the caller's frame pointer and of the return address for a function of
 * Thumb code, in bytes from its own frame pointer. */
struct arm32_frame {
	uint32_t next, caller;
	bool is_leaf;  /* makes no calls: the return address stays in the link register */
	uint32_t made; /* the address after the instruction that sets its frame pointer */
};

enum arm32_search {
	SEARCH_FOUND,
	SEARCH_NONE,
	SEARCH_UNREADABLE, /* a page was not available */
	SEARCH_STOPPED,	   /* the budget was used up */
};

/* Maximum length of a function's first instructions, in halfwords. */
#define ARM32_START_MAX 64

/*
 * Searches the code before @address for its function's frame: for the last instructions
 * that save r7 and lr and set up a frame or, in the @sampled function, that save only r7.
 * The number of halfwords examined is subtracted from *@budget.
 */
enum arm32_search arm32_find_frame(struct reader *reader, uint32_t address, bool sampled,
				   unsigned int *budget, struct arm32_frame *frame);

/* Whether @address (bit 0 set for Thumb) is preceded by a call. */
bool arm32_is_after_call(struct reader *reader, uint32_t address);

#endif
