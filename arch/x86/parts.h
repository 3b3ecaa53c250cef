/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_X86_PARTS_H
#define UNIPROF_ARCH_X86_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parts of an x86 instruction; for code.c and parts.c only. */

/* Properties of an opcode: */
enum {
	M = 1 << 0,   /* has a ModRM byte */
	B = 1 << 1,   /* immediate of 8 bits */
	W = 1 << 2,   /* immediate of 16 bits */
	Z = 1 << 3,   /* immediate of 16 or 32 bits, by operand size */
	V = 1 << 4,   /* immediate of up to 64 bits */
	A = 1 << 5,   /* immediate of the size of an address */
	P = 1 << 6,   /* far pointer */
	X = 1 << 7,   /* undefined in 64-bit mode */
	BAD = 1 << 8, /* undefined in all modes */
	R = 1 << 9,   /* writes to ModRM's register */
	E = 1 << 10,  /* writes to the other operand of ModRM */
};

enum x86_map {
	MAP_ONE,
	MAP_0F,
	MAP_0F38,
	MAP_0F3A,
	MAP_OTHER,
};

/* An instruction's parts. */
struct x86_parts {
	const uint8_t *code;
	unsigned int limit, at; /* bytes available, and used */
	bool is_64, is_short;	/* is_short: there are not enough bytes */
	bool has_66, has_67, has_f2, has_f3;
	bool has_segment; /* fs or gs */
	bool is_vex;	  /* VEX, EVEX or XOP */
	bool is_evex;
	bool wide;			/* REX.W */
	uint8_t more_r, more_x, more_b; /* REX.R, X and B: 8, or 0 */
	enum x86_map map;
	uint8_t opcode, modrm, vvvv;
	uint8_t reg, rm; /* ModRM's, with the bits of REX */
	uint8_t base, index;
	int64_t displacement, immediate;
	bool has_rip; /* relative to the next instruction */
	uint16_t form;
};

static inline bool x86_is_register(const struct x86_parts *parts)
{
	return parts->modrm >> 6 == 3;
}

/* Splits the first instruction of @code into its parts. If there is none, is_short or BAD
 * (in form) is set. */
void x86_take_parts(struct x86_parts *parts, const uint8_t *code, size_t size,
		    bool is_64);

#endif
