/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_FLOW_H
#define UNIPROF_ARCH_FLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where instructions of x86-64 and arm64 lead; for code that treats both CPUs alike. */

enum flow {
	FLOW_ON, /* to the next instruction */
	FLOW_CALL,
	FLOW_CALL_INDIRECT,
	FLOW_JUMP,
	FLOW_JUMP_IF,
	FLOW_JUMP_INDIRECT,
	FLOW_RETURN,
	FLOW_RETURN_FAR, /* from an interrupt or exception */
	FLOW_STOP,
	FLOW_HALT, /* until an interrupt, if any; only on x86 */
	FLOW_BAD,  /* no instruction: size is 0 */
};

struct flow_instruction {
	enum flow flow;
	uint8_t size;	 /* bytes */
	uint64_t target; /* of direct calls and jumps */
};

/* Decodes the instruction at @address, whose code has @size bytes from there. */
struct flow_instruction flow_decode(bool is_arm64, const uint8_t *code, size_t size,
				    uint64_t address);

/*
 * Whether the @count bytes of code before the return address @address, up to @end, end
 * with a call. *@target: the target of a direct call, or 0.
 */
bool flow_call_before(bool is_arm64, const uint8_t *end, size_t count, uint64_t address,
		      uint64_t *target);

#endif
