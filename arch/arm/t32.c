/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm32_instruction.h"

/* T32, the Thumb instruction set (Arm ARM, section F3.1). */

#define BASE	(0xfu << 16)
#define BASE_SP ((uint32_t)SP << 16)

static uint32_t sign_extend(uint32_t value, unsigned int bits)
{
	return (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
}

static void set_access(bool is_load, uint32_t list, uint32_t offset, uint32_t move,
		       struct instruction *to)
{
	to->act = is_load ? ACT_LOAD : ACT_STORE;
	to->list = list;
	to->offset = offset;
	to->move = move;
}

static void decode_push(uint32_t list, struct instruction *to)
{
	uint32_t size = 4 * (uint32_t)__builtin_popcount(list);

	set_access(false, list, -size, -size, to);
}

static void decode_pop(uint32_t list, struct instruction *to)
{
	set_access(true, list, 0, 4 * (uint32_t)__builtin_popcount(list), to);
}

static struct instruction decode_16(uint32_t code, uint32_t address)
{
	struct instruction to = {.size = 2};

	if (code == 0x4770 || code == 0x46f7) { /* bx lr; mov pc, lr */
		to.act = ACT_RETURN;
	} else if ((code & 0xff00) == 0xaf00) { /* add r7, sp, #n */
		to.act = ACT_SET_FP;
		to.offset = (code & 0xff) * 4;
	} else if (code == 0x466f) { /* mov r7, sp */
		to.act = ACT_SET_FP;
	} else if (code == 0x46bd) { /* mov sp, r7 */
		to.act = ACT_SP_FROM_FP;
	} else if ((code & 0xff00) == 0x3700) { /* adds r7, #n */
		to.act = ACT_MOVE_FP;
		to.offset = code & 0xff;
	} else if ((code & 0xff00) == 0xb000) { /* add sp, #n; sub */
		to.act = ACT_MOVE_SP;
		to.offset = (code & 0x7f) * (code & 0x80 ? -4u : 4);
	} else if ((code & 0xfe00) == 0xb400) {
		decode_push((code & 0xff) | (code & 0x100 ? 1 << LR : 0), &to);
	} else if ((code & 0xfe00) == 0xbc00) {
		decode_pop((code & 0xff) | (code & 0x100 ? 1 << PC : 0), &to);
	} else if ((code & 0xf800) == 0xe000) { /* b */
		to.act = ACT_JUMP;
		to.target = address + 4 + sign_extend(code, 11) * 2;
	} else if ((code & 0xff00) == 0x4700 || (code & 0xff00) == 0xde00 ||
		   (code & 0xff00) == 0xbe00 || (code & 0xfd85) == 0x4485) {
		/* bx, blx; udf; bkpt; add and mov of sp or pc */
		to.act = ACT_LOST;
	} else if ((code & 0xfd87) == 0x4486) { /* add and mov of lr */
		to.act = ACT_LOSE_LINK;
	}
	return to;
}

/* ldm and stm. Encodings without a direction are rfe and srs. */
static void decode_multiple(uint32_t code, struct instruction *to)
{
	uint32_t list = code & 0xffff;

	if (code >> 16 == 0xe92d)
		decode_push(list, to);
	else if (code >> 16 == 0xe8bd)
		decode_pop(list, to);
	else if (code & IS_LOAD &&
		 (HAS(list, PC) || !(code & GOES_UP) == !(code & IS_INDEXED)))
		to->act = ACT_LOST;
	else if (code & IS_LOAD && HAS(list, LR))
		to->act = ACT_LOSE_LINK;
}

/* ldrd and strd. Compilers save and restore only pairs in ascending order. */
static void decode_pair(uint32_t code, struct instruction *to)
{
	unsigned int first = code >> 12 & 0xf, second = code >> 8 & 0xf;
	uint32_t list = 1u << first | 1u << second;
	uint32_t distance = (code & 0xff) * (code & GOES_UP ? 4 : -4u);

	if ((code & BASE) == BASE_SP)
		set_access(code & IS_LOAD, list, code & IS_INDEXED ? distance : 0,
			   code & WRITES_BACK ? distance : 0, to);
	else if (code & IS_LOAD && HAS(list, LR))
		to->act = ACT_LOSE_LINK;
}

/* ldr and str of a word. One form has an offset of 12 bits, the other one of 8 bits, with
 * the addressing mode in bits 10 to 8. */
static void decode_single(uint32_t code, struct instruction *to)
{
	unsigned int target = code >> 12 & 0xf;
	uint32_t distance = code & 1 << 9 ? code & 0xff : -(code & 0xff);

	if ((code & BASE) == BASE_SP && code & 1 << 23)
		set_access(code & IS_LOAD, 1u << target, code & 0xfff, 0, to);
	else if ((code & BASE) == BASE_SP && code & 1 << 11)
		set_access(code & IS_LOAD, 1u << target, code & 1 << 10 ? distance : 0,
			   code & 1 << 8 ? distance : 0, to);
	else if (code & IS_LOAD && target == LR)
		to->act = ACT_LOSE_LINK;
	else if (code & IS_LOAD && target >= SP)
		to->act = ACT_LOST;
}

/* Section F2.9.4: a byte, replicated or rotated. */
static uint32_t expand_immediate(uint32_t bits)
{
	uint32_t byte = bits & 0xff;

	switch (bits >> 8) {
	case 0:
		return byte;
	case 1:
		return byte << 16 | byte;
	case 2:
		return byte << 24 | byte << 8;
	case 3:
		return byte * 0x01010101;
	default:
		return (byte | 0x80) << (32 - (bits >> 7));
	}
}

/* add and sub of a constant. */
static void decode_sum(uint32_t code, struct instruction *to)
{
	unsigned int from = code >> 16 & 0xf, target = code >> 8 & 0xf;
	uint32_t bits = (code >> 15 & 0x800) | (code >> 4 & 0x700) | (code & 0xff);
	uint32_t n = code & 1 << 25 ? bits : expand_immediate(bits);

	to->offset = code & 1 << 23 ? -n : n;
	if (from == SP && target == SP)
		to->act = ACT_MOVE_SP;
	else if (from == SP && target == FP_THUMB)
		to->act = ACT_SET_FP;
	else if (from == FP_THUMB && target == FP_THUMB)
		to->act = ACT_MOVE_FP;
	else if (from == FP_THUMB && target == SP)
		to->act = ACT_SP_FROM_FP;
	else if (target == SP)
		to->act = ACT_LOST;
	else if (target == LR)
		to->act = ACT_LOSE_LINK;
}

/* The target of a b.w. */
static uint32_t far_target(uint32_t code, uint32_t address)
{
	uint32_t s = code >> 26 & 1;
	uint32_t i1 = ~(code >> 13 ^ s) & 1, i2 = ~(code >> 11 ^ s) & 1;
	uint32_t offset = s << 23 | i1 << 22 | i2 << 21 | (code >> 16 & 0x3ff) << 11 |
			  (code & 0x7ff);

	return address + 4 + sign_extend(offset, 24) * 2;
}

static struct instruction decode_32(uint32_t code, uint32_t address)
{
	struct instruction to = {.size = 4};
	uint32_t sum = code & 0xfbf08000;

	if ((code & 0xf800c000) == 0xf000c000) { /* bl, blx */
		to.act = ACT_LOST;
	} else if ((code & 0xf800d000) == 0xf0009000) { /* b.w */
		to.act = ACT_JUMP;
		to.target = far_target(code, address);
	} else if ((code & 0xfe400000) == 0xe8000000) {
		decode_multiple(code, &to);
	} else if ((code & 0xfff0ffe0) == 0xe8d0f000) { /* tbb, tbh */
		to.act = ACT_LOST;
	} else if ((code & 0xfe400000) == 0xe8400000 &&
		   code & (IS_INDEXED | WRITES_BACK)) {
		decode_pair(code, &to);
	} else if ((code & 0xff600000) == 0xf8400000) {
		decode_single(code, &to);
	} else if (sum == 0xf1000000 || sum == 0xf1a00000 || sum == 0xf2000000 ||
		   sum == 0xf2a00000) {
		decode_sum(code, &to);
	} else if ((code & 0xfe000f00) == 0xea000d00 || /* sums of registers, in sp */
		   (code & 0xffffff00) == 0xf3de8f00) { /* subs pc, lr, #n */
		to.act = ACT_LOST;
	} else if ((code & 0xfe000f00) == 0xea000e00 || /* and in lr */
		   (code & 0xfbef8f00) == 0xf04f0e00) { /* mov.w lr, #n */
		to.act = ACT_LOSE_LINK;
	} else if (code >> 28 == 0xe) {
		decode_vector_stack(code, &to);
	}
	return to;
}

struct instruction t32_decode(uint32_t first, uint32_t second, uint32_t address)
{
	return t32_is_wide(first) ? decode_32(first << 16 | second, address)
				  : decode_16(first, address);
}
