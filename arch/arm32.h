/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM32_H
#define UNIPROF_ARCH_ARM32_H

#include "arch/arm.h"

/* What the files on AArch32 share; for these alone. "Arm ARM" is the Arm Architecture
 * Reference Manual for A-profile, DDI 0487, issue J.a. */

#define FP_THUMB 7
#define FP_ARM	 11
#define SP	 13
#define LR	 14
#define PC	 15

#define HAS(list, reg) ((list) >> (reg)&1)

/* What an instruction does to the registers that lead to the caller: stack pointer,
 * frame pointer and link register. */
enum act {
	ACT_NONE,
	ACT_JUMP,	/* the code goes on at target */
	ACT_RETURN,	/* to what is in the link register */
	ACT_LOST,	/* a call, or what can't be followed */
	ACT_LOSE_LINK,	/* the link register gets something else */
	ACT_STORE,	/* list to sp + offset and on, in their order; then sp += move */
	ACT_LOAD,	/* list from there, and so on */
	ACT_MOVE_SP,	/* sp += offset */
	ACT_MOVE_FP,	/* fp += offset */
	ACT_SET_FP,	/* fp = sp + offset, if it is Thumb code */
	ACT_SP_FROM_FP, /* sp = fp + offset */
};

/* Bits of loads and stores: of A32, and of T32 with its two halfwords as one number. */
#define IS_LOAD	    (1u << 20)
#define WRITES_BACK (1u << 21)
#define GOES_UP	    (1u << 23)
#define IS_INDEXED  (1u << 24) /* before the access */

struct instruction {
	enum act act;
	unsigned int size; /* bytes */
	uint32_t target;
	uint32_t list;	       /* of registers, a bit each */
	uint32_t offset, move; /* below 0 as 2^32 less that */
};

/* One instruction of A32, ARM's, at @address. */
struct instruction a32_decode(uint32_t code, uint32_t address);

/* One of T32, Thumb's, of which @second is only looked at if @first is_wide. */
struct instruction t32_decode(uint32_t first, uint32_t second, uint32_t address);

static inline bool t32_is_wide(uint32_t first)
{
	return first >> 11 >= 0x1d;
}

/* vpush and vpop, which both have, but for bits 31 to 28. */
static inline void decode_vector_stack(uint32_t code, struct instruction *to)
{
	bool is_push = (code & 0x0fbf0e00) == 0x0d2d0a00;

	if (!is_push && (code & 0x0fbf0e00) != 0x0cbd0a00)
		return;
	to->act = ACT_MOVE_SP;
	to->offset = (code & 0xff) * (is_push ? -4u : 4);
}

/* How a function is left, by the code from one of its instructions on. */
struct arm32_exit {
	enum {
		EXIT_UNKNOWN,
		EXIT_LINK,  /* the return address is in the link register, ... */
		EXIT_STACK, /* or in the word at caller */
	} kind;
	uint32_t caller;
	/* Where the caller's frame pointer is, if not in its register: [is_thumb]. */
	bool has_saved[2];
	uint32_t saved[2];
};

/* @sp and @fp: what the instruction at @address finds in the stack pointer and in its
 * instruction set's frame pointer. */
struct arm32_exit arm32_leave(struct reader *reader, uint32_t address, bool is_thumb,
			      uint32_t sp, uint32_t fp);

/* Where a function of Thumb code has the caller's frame pointer and the return address:
 * bytes from its own frame pointer. */
struct arm32_frame {
	uint32_t next, caller;
	bool is_leaf; /* it calls none: the return address stays in the link register */
	uint32_t
		made; /* the address behind the instruction that sets its frame pointer */
};

enum arm32_search {
	SEARCH_FOUND,
	SEARCH_NONE,
	SEARCH_UNREADABLE, /* a page could not be had */
	SEARCH_STOPPED,	   /* nothing was left of the budget */
};

/* What may be a function's first instructions, in halfwords. */
#define ARM32_START_MAX 64

/*
 * Looks for that in the code before @address: for the last instructions that save r7 and
 * lr and make a frame; or, of the @sampled function, that save r7 only. What is looked
 * at, in halfwords, is subtracted from *@budget.
 */
enum arm32_search arm32_find_frame(struct reader *reader, uint32_t address, bool sampled,
				   unsigned int *budget, struct arm32_frame *frame);

/* Whether @address, with bit 0 set for Thumb, is one that a call returns to. */
bool arm32_is_after_call(struct reader *reader, uint32_t address);

#endif
