/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/riscv/code.h"

#include <stdbool.h>

#include "arch/riscv/cpu.h"

/*
 * Encodings of RV64GC: RISC-V Unprivileged ISA, version 20191213, chapters 2, 5, 16 and
 * 24. Bits of constants are in other places in each format.
 */

/* Returns the @count bits of @code from bit @from on, moved to bit @to. */
static uint32_t bits(uint32_t code, unsigned int from, unsigned int count,
		     unsigned int to)
{
	return (code >> from & ((1u << count) - 1)) << to;
}

/* Extends the sign of a number of @count bits. */
static int32_t with_sign(uint32_t number, unsigned int count)
{
	return (int32_t)(number << (32 - count)) >> (32 - count);
}

static struct riscv_instruction made(unsigned int size, enum riscv_use use, int32_t value)
{
	return (struct riscv_instruction){use, value, size};
}

/* An instruction that sets a register to something not known. */
static struct riscv_instruction sets(unsigned int size, uint32_t reg)
{
	return made(size,
		    reg == RISCV_RA   ? RISCV_ENDS
		    : reg == RISCV_SP ? RISCV_LOSES_SP
				      : RISCV_NOTHING,
		    0);
}

/* An instruction that sets @to to @from + @value. */
static struct riscv_instruction adds(unsigned int size, uint32_t to, uint32_t from,
				     int32_t value)
{
	if (to == RISCV_SP && from == RISCV_SP)
		return made(size, RISCV_MOVES_SP, value);
	if (to == RISCV_SP && from == RISCV_FP)
		return made(size, RISCV_SP_BY_FP, value);
	if (to == RISCV_FP && from == RISCV_SP)
		return made(size, RISCV_SETS_FP, 0);
	return sets(size, to);
}

/* ld from the stack. */
static struct riscv_instruction loads(unsigned int size, uint32_t reg, int32_t value)
{
	return reg == RISCV_FP ? made(size, RISCV_LOADS_FP, value) : sets(size, reg);
}

/* sd to the stack. */
static struct riscv_instruction saves(unsigned int size, uint32_t reg)
{
	return made(size,
		    reg == RISCV_RA || reg == RISCV_FP ? RISCV_SAVES : RISCV_NOTHING, 0);
}

/* A jump to a register, which sets @link. */
static struct riscv_instruction jumps(unsigned int size, uint32_t link, uint32_t reg,
				      int32_t value)
{
	bool returns = !link && reg == RISCV_RA && !value;

	return made(size, returns ? RISCV_RETURN : RISCV_ENDS, 0);
}

static struct riscv_instruction use_of_long(uint32_t code)
{
	uint32_t to = bits(code, 7, 5, 0), from = bits(code, 15, 5, 0);
	uint32_t kind = bits(code, 12, 3, 0);
	int32_t value = (int32_t)code >> 20;

	switch (code & 0x7f) {
	case 0x03: /* loads */
		return from == RISCV_SP && kind == 3 ? loads(4, to, value) : sets(4, to);
	case 0x23: /* stores */
		return from == RISCV_SP && kind == 3 ? saves(4, bits(code, 20, 5, 0))
						     : made(4, RISCV_NOTHING, 0);
	case 0x13: /* with a constant; 0: addi */
		return kind == 0 ? adds(4, to, from, value) : sets(4, to);
	case 0x6f: /* jal */
		if (to)
			return made(4, RISCV_ENDS, 0);
		return made(4, RISCV_JUMP,
			    with_sign(bits(code, 31, 1, 20) | bits(code, 12, 8, 12) |
					      bits(code, 20, 1, 11) |
					      bits(code, 21, 10, 1),
				      21));
	case 0x67: /* jalr */
		return jumps(4, to, from, value);
	case 0x73: /* system; ebreak, sret and mret end the path */
		return code == 0x00100073 || code == 0x10200073 || code == 0x30200073
			       ? made(4, RISCV_ENDS, 0)
			       : sets(4, to);
	case 0x07: /* instructions without an integer register as the result */
	case 0x0f:
	case 0x27:
	case 0x43:
	case 0x47:
	case 0x4b:
	case 0x4f:
	case 0x57:
	case 0x63:
		return made(4, RISCV_NOTHING, 0);
	case 0x53: /* comparisons, conversions, moves, classes set integer registers */
		return bits(code, 27, 5, 0) == 0x14 || bits(code, 27, 5, 0) == 0x18 ||
				       bits(code, 27, 5, 0) == 0x1c
			       ? sets(4, to)
			       : made(4, RISCV_NOTHING, 0);
	default:
		return sets(4, to);
	}
}

/* c.addi, c.addiw, c.li, c.lui, c.addi16sp; c.slli, c.lwsp and so on. */
static struct riscv_instruction use_of_short(uint32_t code)
{
	uint32_t to = bits(code, 7, 5, 0), kind = bits(code, 13, 3, 0);

	if (kind == 0 && (code & 3) == 1)
		return adds(2, to, to,
			    with_sign(bits(code, 12, 1, 5) | bits(code, 2, 5, 0), 6));
	if (kind == 3 && (code & 3) == 1 && to == RISCV_SP)
		return adds(2, to, to,
			    with_sign(bits(code, 12, 1, 9) | bits(code, 3, 2, 7) |
					      bits(code, 5, 1, 6) | bits(code, 2, 1, 5) |
					      bits(code, 6, 1, 4),
				      10));
	return sets(2, to);
}

/* c.jr, c.jalr, c.mv, c.add, c.ebreak */
static struct riscv_instruction use_of_registers(uint32_t code)
{
	uint32_t to = bits(code, 7, 5, 0), from = bits(code, 2, 5, 0);
	bool adds_both = code & 1 << 12;

	if (!from)
		return jumps(2, adds_both ? RISCV_RA : 0, to, 0);
	return adds_both ? sets(2, to) : adds(2, to, from, 0);
}

struct riscv_instruction riscv_use_of(uint32_t code)
{
	if (riscv_is_long(code))
		return use_of_long(code);
	code &= 0xffff;
	switch (bits(code, 13, 3, 2) | (code & 3)) {
	case 0 << 2: /* c.addi4spn, to registers from x8 on; all zero: not allowed */
		if (!code)
			return made(2, RISCV_ENDS, 0);
		return adds(2, RISCV_FP + bits(code, 2, 3, 0), RISCV_SP, 0);
	case 5 << 2 | 1: /* c.j */
		return made(2, RISCV_JUMP,
			    with_sign(bits(code, 12, 1, 11) | bits(code, 8, 1, 10) |
					      bits(code, 9, 2, 8) | bits(code, 6, 1, 7) |
					      bits(code, 7, 1, 6) | bits(code, 2, 1, 5) |
					      bits(code, 11, 1, 4) | bits(code, 3, 3, 1),
				      12));
	case 3 << 2 | 2: /* c.ldsp */
		return loads(2, bits(code, 7, 5, 0),
			     (int32_t)(bits(code, 2, 3, 6) | bits(code, 12, 1, 5) |
				       bits(code, 5, 2, 3)));
	case 7 << 2 | 2: /* c.sdsp */
		return saves(2, bits(code, 2, 5, 0));
	case 4 << 2 | 2:
		return use_of_registers(code);
	case 0 << 2 | 1:
	case 1 << 2 | 1:
	case 2 << 2 | 1:
	case 3 << 2 | 1:
	case 0 << 2 | 2:
	case 2 << 2 | 2:
		return use_of_short(code);
	default: /* registers from x8 on, or none */
		return made(2, RISCV_NOTHING, 0);
	}
}
