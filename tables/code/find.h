/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CODE_FIND_H
#define UNIPROF_TABLES_CODE_FIND_H

#include "tables/code/code.h"

/* The CPU's part of the search for functions; for tables/code/ only. */

/* The code just before an instruction. */
struct find_before {
	bool is_end;	/* control does not continue past it */
	bool is_call;	/* a call, which may not return, or a halt */
	bool is_padded; /* padding, behind an end or a call */
};

enum find_start {
	FIND_NO_START,
	FIND_PART,  /* a part that was moved away, if other functions jump there */
	FIND_START, /* a function, unless another one's jumps lead across */
};

/* The functions get offsets within the code. */
struct find_cpu {
	/* Whether the instruction has no effect, or stops. It has @size bytes. */
	bool (*is_padding)(const struct machine_code *code, size_t at, size_t size);
	/* Whether the instruction may be a function's first one. */
	enum find_start (*judge)(const struct machine_code *code, size_t at,
				 struct find_before before);
	/* The address of 64 bits that the instruction, of @size bytes, loads into a
	 * register, as far as compilers do so only to call it; 0 if there is none. */
	uint64_t (*constant)(const struct machine_code *code, size_t at, size_t size);
};

extern const struct find_cpu find_x86, find_arm64;

/* Alignment of functions in bytes, if compilers align them at all. */
#define FIND_ALIGNMENT 16

#endif
