/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm32_instruction.h"

/* A32, the ARM instruction set (Arm ARM, section F4.1). Bits 31 to 28 are the condition;
 * conditional instructions are treated as executed if they lead out of the function. */

#define HAS_USERS (1u << 22) /* ldm and stm: user mode's registers */

static unsigned int base_of(uint32_t code)
{
	return code >> 16 & 0xf;
}

static unsigned int target_of(uint32_t code)
{
	return code >> 12 & 0xf;
}

static uint32_t immediate(uint32_t code)
{
	unsigned int by = (code >> 8 & 0xf) * 2;
	uint32_t value = code & 0xff;

	return by ? value >> by | value << (32 - by) : value;
}

/* A load or store of words relative to the stack pointer. */
static void access_stack(uint32_t code, uint32_t list, uint32_t distance,
			 struct instruction *to)
{
	to->act = code & IS_LOAD ? ACT_LOAD : ACT_STORE;
	to->list = list;
	if (!(code & GOES_UP))
		distance = -distance;
	to->offset = code & IS_INDEXED ? distance : 0;
	to->move = !(code & IS_INDEXED) || code & WRITES_BACK ? distance : 0;
}

/* push, pop, stm and ldm. */
static void decode_multiple(uint32_t code, struct instruction *to)
{
	uint32_t list = code & 0xffff;
	uint32_t size = 4 * (uint32_t)__builtin_popcount(list);

	if (base_of(code) != SP) {
		if (code & IS_LOAD && (HAS(list, PC) || HAS(list, SP)))
			to->act = ACT_LOST;
		else if (code & IS_LOAD && HAS(list, LR))
			to->act = ACT_LOSE_LINK;
		return;
	}
	to->act = code & IS_LOAD ? ACT_LOAD : ACT_STORE;
	to->list = code & HAS_USERS && !HAS(list, PC) ? 0 : list;
	if (code & GOES_UP)
		to->offset = code & IS_INDEXED ? 4 : 0;
	else
		to->offset = code & IS_INDEXED ? -size : 4 - size;
	if (code & WRITES_BACK)
		to->move = code & GOES_UP ? size : -size;
}

/* str and ldr of a word. */
static void decode_single(uint32_t code, bool is_conditional, struct instruction *to)
{
	unsigned int target = target_of(code);
	bool has_distance = !(code & 1 << 25);

	if (code & 1 << 22) /* a byte */
		return;
	if (base_of(code) == SP && has_distance) {
		access_stack(code, 1u << target, code & 0xfff, to);
		return;
	}
	if (!(code & IS_LOAD))
		return;
	/* A conditional load to pc is a switch, which goes on at the default case. */
	if (target == SP || (target == PC && !is_conditional))
		to->act = ACT_LOST;
	else if (target == LR)
		to->act = ACT_LOSE_LINK;
}

/* sp = sp + n, sp = fp + n */
static void compute_sp(uint32_t code, uint32_t n, bool is_sum, struct instruction *to)
{
	to->offset = n;
	if (is_sum && base_of(code) == SP) {
		to->act = ACT_MOVE_SP;
	} else if (is_sum && base_of(code) == FP_ARM) {
		to->act = ACT_SP_FROM_FP;
	} else if (code == 0x01a0d00b) { /* mov sp, fp */
		to->act = ACT_SP_FROM_FP;
		to->offset = 0;
	} else {
		to->act = ACT_LOST;
	}
}

/* Data processing; only results in sp, fp and pc matter. */
static void decode_data(uint32_t code, bool is_conditional, struct instruction *to)
{
	bool adds = (code & 0x0fe00000) == 0x02800000;
	bool subtracts = (code & 0x0fe00000) == 0x02400000;

	switch (target_of(code)) {
	case PC:
		if (code == 0x01a0f00e) /* mov pc, lr */
			to->act = ACT_RETURN;
		/* If bits 24, 23 and 20 are 100, there is no result. */
		else if ((code & 0x01900000) != 0x01000000 && !is_conditional)
			to->act = ACT_LOST;
		break;
	case SP:
		compute_sp(code, adds ? immediate(code) : -immediate(code),
			   adds || subtracts, to);
		break;
	case LR:
		to->act = ACT_LOSE_LINK;
		break;
	case FP_ARM:
		/* add fp, sp, #n; sub fp, ip, #n; mov fp, sp */
		if ((adds && base_of(code) == SP) || (subtracts && base_of(code) == 12) ||
		    code == 0x01a0b00d)
			to->act = ACT_SET_FP;
		break;
	}
}

/* Instructions that share bits 27 to 25 with data processing on registers. */
static bool decode_misc(uint32_t code, struct instruction *to)
{
	if ((code & 0x0fffffd0) == 0x012fff10) { /* bx, blx */
		to->act = code == 0x012fff1e ? ACT_RETURN : ACT_LOST;
		return true;
	}
	if ((code & 0x0e5000d0) == 0x004000d0 && base_of(code) == SP) {
		/* ldrd, strd: bit 20 does not distinguish them */
		access_stack(code & 1 << 5 ? code : code | IS_LOAD, 3u << target_of(code),
			     (code >> 4 & 0xf0) | (code & 0xf), to);
		return true;
	}
	return false;
}

struct instruction a32_decode(uint32_t code, uint32_t address)
{
	struct instruction to = {.size = 4};
	bool is_conditional = code >> 28 != 0xe;

	if (code >> 28 == 0xf) {
		if ((code & 0x0e000000) == 0x0a000000 || /* blx */
		    (code & 0xfe500000) == 0xf8100000)	 /* rfe */
			to.act = ACT_LOST;
		return to;
	}
	code &= 0x0fffffff;
	switch (code >> 25) {
	case 0:
		if (!decode_misc(code, &to))
			decode_data(code, is_conditional, &to);
		break;
	case 1:
		decode_data(code, is_conditional, &to);
		break;
	case 2:
		decode_single(code, is_conditional, &to);
		break;
	case 3:
		if (!(code & 1 << 4))
			decode_single(code, is_conditional, &to);
		else if ((code & 0x0ff000f0) == 0x07f000f0) /* udf */
			to.act = ACT_LOST;
		break;
	case 4:
		decode_multiple(code, &to);
		break;
	case 5: /* bl, b */
		to.act = code & 1 << 24 ? ACT_LOST : is_conditional ? ACT_NONE : ACT_JUMP;
		to.target = address + 8 + (uint32_t)((int32_t)(code << 8) >> 6);
		break;
	default:
		decode_vector_stack(code, &to);
		break;
	}
	return to;
}
