/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_ARM_ARM64_CODE_H
#define UNIPROF_ARCH_ARM_ARM64_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* What an instruction implies about the link register before it. */
enum arm64_use {
	ARM64_LINK_NONE,
	ARM64_LINK_JUMP, /* nothing: the code goes on elsewhere */
	ARM64_LINK_LIVE, /* the link register holds the return address */
	ARM64_LINK_DEAD, /* the link register is not needed, or its contents not known */
};

/* Classifies one A64 instruction. */
enum arm64_use arm64_use_of(uint32_t code);

/* Registers are numbered as in the code. */
#define ARM64_FP	  29
#define ARM64_LINK	  30
#define ARM64_SP	  31
#define ARM64_NO_REGISTER 0xff

enum arm64_act {
	ARM64_OTHER,	    /* has none of the effects below */
	ARM64_LOSE,	    /* overwrites to */
	ARM64_ADD,	    /* to = from + offset */
	ARM64_ADD_REGISTER, /* to = from + second */
	ARM64_SUBTRACT_REGISTER,
	ARM64_SET,	/* to = offset */
	ARM64_SET_PART, /* sets 16 bits of to, from bit second on, to offset */
	ARM64_STORE,	/* to and, behind it, second, to the address from + offset */
	ARM64_LOAD,	/* to and second from the address from + offset on */
	ARM64_CALL,	/* of target */
	ARM64_CALL_INDIRECT,
	ARM64_JUMP,	     /* to target */
	ARM64_JUMP_IF,	     /* to target, or to the next instruction */
	ARM64_JUMP_INDIRECT, /* to the address in from */
	ARM64_RETURN,
	ARM64_RETURN_FAR, /* from an exception */
	ARM64_STOP,	  /* undefined on purpose, or a breakpoint */
};

struct arm64_instruction {
	enum arm64_act act;
	uint8_t to, second, from;
	bool is_whole; /* 64 bits of each register are loaded or stored, from + offset on
			*/
	int32_t offset;
	int32_t writeback; /* added to from afterwards, by loads and stores */
	uint64_t target;
};

/*
 * Decodes the effect of the A64 instruction at @address on the stack pointer, x29, x30
 * and the control flow, and what else may lead to the stack pointer's new value. The zero
 * register counts as none. Ignored are the results of instructions that only kernels or
 * programs with memory tags use, and the writeback of loads and stores of several vector
 * registers (ld1) and of loads that authenticate the address (ldraa).
 */
struct arm64_instruction arm64_decode(uint32_t code, uint64_t address);

#endif
