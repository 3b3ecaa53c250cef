/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_X86_CODE_H
#define UNIPROF_ARCH_X86_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the effect of x86 instructions on the stack pointer, the frame pointer and the
 * control flow, copies of addresses on the stack, and their size. Everything else is
 * ignored.
 */

/* No instruction is longer (Intel SDM, volume 2, section 2.3.11). */
#define X86_SIZE_MAX 15

/* A value of x86_instruction.to and .from: none of X86_REGISTERS. */
#define X86_NO_REGISTER 0xff

enum x86_act {
	X86_BAD,	   /* invalid or incomplete: size is 0 */
	X86_OTHER,	   /* has none of the effects below */
	X86_PUSH,	   /* rsp += offset; stores from, or something else, at rsp */
	X86_POP,	   /* loads to, or something else, from rsp; then rsp += offset */
	X86_ADD,	   /* to = from + offset; to, from or both are rsp */
	X86_ADD_OTHER,	   /* to, which is not rsp, += offset */
	X86_STORE,	   /* all of register from to rsp + offset */
	X86_LOAD,	   /* all of register to from rsp + offset */
	X86_STORE_OTHER,   /* all of register from to the address to + offset */
	X86_LOAD_OTHER,	   /* to from the address from + offset; see below */
	X86_LOSE,	   /* overwrites to, which is rsp or rbp */
	X86_ENTER,	   /* push rbp; rbp = rsp; rsp += offset */
	X86_LEAVE,	   /* rsp = rbp; pop rbp */
	X86_CALL,	   /* of target */
	X86_CALL_INDIRECT, /* of an address in a register or memory */
	X86_JUMP,	   /* to target */
	X86_JUMP_IF,	   /* to target, or to the next instruction */
	X86_JUMP_INDIRECT, /* to an address in a register or memory */
	X86_RETURN,	   /* removes offset bytes in addition to the return address */
	X86_RETURN_FAR,	   /* from an interrupt, or to another segment */
	X86_STOP,	   /* undefined on purpose, or a breakpoint */
	X86_LEAVE_KERNEL,  /* sysret, sysexit, sysenter */
	X86_HALT	   /* until an interrupt, if any */
};

struct x86_instruction {
	enum x86_act act;
	uint8_t size;	  /* bytes */
	uint8_t to, from; /* registers */
	uint16_t writes;  /* bit n: overwrites register n */
	int32_t offset;
	uint64_t target; /* also the address that lea takes of code or data */
};

/*
 * Decodes the instruction at @address. @code has @size bytes from there, which may end
 * within the instruction or contain further ones. @is_64: 64-bit mode, else 32-bit code.
 * Writes of 16 bits and more count as overwriting a register (X86_LOSE, and writes, which
 * includes registers that are not among the operands); writes of a single byte and by
 * instructions found only in kernels (lar, sldt) are ignored. X86_LOAD_OTHER loads the
 * whole of any register, or rsp or rbp from an address of another form (from is then
 * X86_NO_REGISTER, and the load may be of a part).
 */
struct x86_instruction x86_decode(const uint8_t *code, size_t size, uint64_t address,
				  bool is_64);

/* Bytes of the longest call without prefixes: ff /2 with an index and a displacement of
 * 32 bits. */
#define X86_CALL_SIZE_MAX 7

/*
 * Whether the @count bytes of code before the return address @address, up to @end, end
 * with a call. *@target: the target of a direct call, or 0.
 */
bool x86_call_before(const uint8_t *end, size_t count, uint64_t address, bool is_64,
		     uint64_t *target);

#endif
