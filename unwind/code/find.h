/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_CODE_FIND_H
#define UNIPROF_UNWIND_CODE_FIND_H

#include "unwind/code/code.h"

/* What the search for functions has for each CPU; for unwind/code/ only. */

enum flow {
	FLOW_ON, /* to the next instruction */
	FLOW_CALL,
	FLOW_CALL_INDIRECT,
	FLOW_JUMP,
	FLOW_JUMP_IF,
	FLOW_END,
	FLOW_BAD, /* no instruction */
};

/* What matters of an instruction. */
struct find_instruction {
	enum flow flow;
	uint8_t size;	 /* bytes */
	bool is_padding; /* it has no effect, or stops */
	uint64_t target; /* of direct calls and jumps */
};

/* What is before an instruction. */
struct find_before {
	bool is_end;	/* nothing that runs into it */
	bool is_call;	/* a call, which may not return */
	bool is_padded; /* padding, behind one of these */
};

enum find_start {
	FIND_NO_START,
	FIND_PART,  /* a part that was moved away, if other functions jump there */
	FIND_SMALL, /* a function, unless a jump leads there */
	FIND_START, /* a function, unless another one's jumps lead across */
};

struct find_cpu {
	/* Decodes the instruction at this offset in the code, which is inside. */
	struct find_instruction (*decode)(const struct unwind_code *code, size_t at);
	/* Whether it may be a function's first one. */
	enum find_start (*judge)(const struct unwind_code *code, size_t at,
				 struct find_before before);
};

extern const struct find_cpu find_x86, find_arm64;

/* Compilers align functions to this, if at all. */
#define FIND_ALIGNMENT 16

#endif
