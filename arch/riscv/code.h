/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_RISCV_CODE_H
#define UNIPROF_ARCH_RISCV_CODE_H

#include <stdint.h>

/* The effect of an instruction on the return address in ra, the frame pointer and the
 * stack pointer. */
enum riscv_use {
	RISCV_NOTHING,	/* nothing */
	RISCV_JUMP,	/* goes on @value bytes from here */
	RISCV_RETURN,	/* returns to ra */
	RISCV_SAVES,	/* saves ra or the frame pointer on the stack */
	RISCV_SETS_FP,	/* sets the frame pointer by the stack pointer */
	RISCV_LOADS_FP, /* loads the frame pointer from @value bytes above sp */
	RISCV_MOVES_SP, /* adds @value to sp */
	RISCV_SP_BY_FP, /* sets sp to @value bytes above the frame pointer */
	RISCV_LOSES_SP, /* sets sp to something else */
	RISCV_ENDS,	/* ra is no longer needed, or the following code is unknown */
};

struct riscv_instruction {
	enum riscv_use use;
	int32_t value;
	unsigned int size; /* bytes: 2 or 4 */
};

/* Classifies the instruction in the low bits of @code: 16 bits, or 32 if the lowest two
 * are set (riscv_is_long()). */
struct riscv_instruction riscv_use_of(uint32_t code);

static inline int riscv_is_long(uint32_t code)
{
	return (code & 3) == 3;
}

#endif
