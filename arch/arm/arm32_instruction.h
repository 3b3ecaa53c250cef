/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM_ARM32_INSTRUCTION_H
#define UNIPROF_ARCH_ARM_ARM32_INSTRUCTION_H

#include "arch/arm/cpu.h"

/* Decodes the effect of AArch32 instructions on unwinding. "Arm ARM" is the Arm
 * Architecture Reference Manual for A-profile, DDI 0487, issue J.a. */

#define FP_THUMB ARM32_FP_THUMB
#define FP_ARM	 ARM32_FP
#define SP	 13
#define LR	 14
#define PC	 15

#define HAS(list, reg) ((list) >> (reg)&1)

/* The effect of an instruction on the registers needed to find the caller: stack pointer,
 * frame pointer and link register. */
enum act {
	ACT_NONE,
	ACT_JUMP,	/* the code goes on at target */
	ACT_RETURN,	/* to the address in the link register */
	ACT_LOST,	/* a call, or an effect that can't be followed */
	ACT_LOSE_LINK,	/* overwrites the link register */
	ACT_STORE,	/* list to sp + offset and up, in order; then sp += move */
	ACT_LOAD,	/* list from sp + offset and up, in order; then sp += move */
	ACT_MOVE_SP,	/* sp += offset */
	ACT_MOVE_FP,	/* fp += offset */
	ACT_SET_FP,	/* fp = sp + offset, if it is Thumb code */
	ACT_SP_FROM_FP, /* sp = fp + offset */
};

/* Bits of loads and stores: in A32, and in T32 with its two halfwords as one number. */
#define IS_LOAD	    (1u << 20)
#define WRITES_BACK (1u << 21)
#define GOES_UP	    (1u << 23)
#define IS_INDEXED  (1u << 24) /* before the access */

struct instruction {
	enum act act;
	unsigned int size; /* bytes */
	uint32_t target;
	uint32_t list;	       /* bit mask of registers */
	uint32_t offset, move; /* modulo 2^32 */
};

/* Decodes the A32 (ARM) instruction at @address. */
struct instruction a32_decode(uint32_t code, uint32_t address);

/* Decodes a T32 (Thumb) instruction; @second is only used if t32_is_wide(@first). */
struct instruction t32_decode(uint32_t first, uint32_t second, uint32_t address);

static inline bool t32_is_wide(uint32_t first)
{
	return first >> 11 >= 0x1d;
}

/* vpush and vpop, which A32 and T32 share except for bits 31 to 28. */
static inline void decode_vector_stack(uint32_t code, struct instruction *to)
{
	bool is_push = (code & 0x0fbf0e00) == 0x0d2d0a00;

	if (!is_push && (code & 0x0fbf0e00) != 0x0cbd0a00)
		return;
	to->act = ACT_MOVE_SP;
	to->offset = (code & 0xff) * (is_push ? -4u : 4);
}

#endif
