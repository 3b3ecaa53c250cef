/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/arm64_code.h"

/* The encodings are from the Arm ARM (DDI 0487, issue J.a), section C4.1. */

static uint8_t field(uint32_t code, unsigned int shift)
{
	return code >> shift & 0x1f;
}

/* The number of an overwritten register; 31 means none here. */
static uint8_t written(uint32_t code, unsigned int shift)
{
	return field(code, shift) == ARM64_SP ? ARM64_NO_REGISTER : field(code, shift);
}

/* The signed number in the @size bits from @shift on. */
static int32_t number(uint32_t code, unsigned int shift, unsigned int size)
{
	return (int32_t)(code << (32 - shift - size)) >> (32 - size);
}

static void lose(struct arm64_instruction *next, uint8_t reg)
{
	next->act = ARM64_LOSE;
	next->to = reg;
}

static void jump(struct arm64_instruction *next, enum arm64_act act, uint64_t address,
		 int32_t words)
{
	next->act = act;
	next->target = address + (uint64_t)((int64_t)words * 4);
}

/* br, blr, ret and eret, and their forms that authenticate the address (braa, retab). */
static void decode_register_branch(uint32_t code, struct arm64_instruction *next)
{
	static const enum arm64_act acts[16] = {
		[0] = ARM64_JUMP_INDIRECT, [1] = ARM64_CALL_INDIRECT, [2] = ARM64_RETURN,
		[4] = ARM64_RETURN_FAR,	   [5] = ARM64_STOP, /* drps: of a debugger */
		[8] = ARM64_JUMP_INDIRECT, [9] = ARM64_CALL_INDIRECT,
	};

	next->act = acts[code >> 21 & 15];
	next->from = field(code, 5);
	if (next->act == ARM64_OTHER)
		next->act = ARM64_STOP;
}

static void decode_branch(uint32_t code, uint64_t address, struct arm64_instruction *next)
{
	if ((code & 0x7c000000) == 0x14000000) /* b, bl */
		jump(next, code >> 31 ? ARM64_CALL : ARM64_JUMP, address,
		     number(code, 0, 26));
	else if ((code & 0x7e000000) == 0x36000000) /* tbz, tbnz */
		jump(next, ARM64_JUMP_IF, address, number(code, 5, 14));
	else if ((code & 0x7e000000) == 0x34000000 || /* cbz, cbnz */
		 (code & 0xff000000) == 0x54000000)   /* b.cond */
		jump(next, ARM64_JUMP_IF, address, number(code, 5, 19));
	else if ((code & 0xfe000000) == 0xd6000000)
		decode_register_branch(code, next);
	else if ((code & 0xff000000) == 0xd4000000 && (code & 0xe00000)) /* brk, hlt */
		next->act = ARM64_STOP;
	else if ((code & 0xfff00000) == 0xd5300000 || /* mrs */
		 (code & 0xfff80000) == 0xd5280000)   /* sysl */
		lose(next, written(code, 0));
}

/* add and sub with a constant, which may be shifted by 12 bits. */
static void decode_add(uint32_t code, struct arm64_instruction *next)
{
	int32_t offset = (int32_t)(code >> 10 & 0xfff) << (code >> 22 & 1 ? 12 : 0);
	bool sets_flags = code >> 29 & 1, is_whole = code >> 31;

	lose(next, sets_flags ? written(code, 0) : field(code, 0));
	if (sets_flags || !is_whole)
		return;
	next->act = ARM64_ADD;
	next->from = field(code, 5);
	next->offset = code >> 30 & 1 ? -offset : offset;
}

/* movz, movn, movk */
static void decode_move(uint32_t code, struct arm64_instruction *next)
{
	unsigned int shift = code >> 21 & 3, kind = code >> 29 & 3;
	uint32_t value = (code >> 5 & 0xffff) << 16 * (shift & 1);

	lose(next, written(code, 0));
	if (shift > 1 || value >> 31 || (kind != 2 && kind != 3))
		return;
	next->act = kind == 2 ? ARM64_SET : ARM64_SET_PART;
	next->offset = (int32_t)value;
	next->second = (uint8_t)(16 * shift);
}

static void decode_immediate(uint32_t code, struct arm64_instruction *next)
{
	switch (code >> 23 & 7) {
	case 2:
		decode_add(code, next);
		break;
	case 3: /* addg, subg */
		lose(next, field(code, 0));
		break;
	case 4: /* and, orr, eor to the stack pointer, but not ands */
		lose(next, (code >> 29 & 3) == 3 ? written(code, 0) : field(code, 0));
		break;
	case 5:
		decode_move(code, next);
		break;
	default:
		lose(next, written(code, 0));
	}
}

static void decode_register(uint32_t code, struct arm64_instruction *next)
{
	/* add or sub of an extended register: the stack pointer may be an operand. */
	bool is_extended = (code & 0x1f200000) == 0x0b200000;
	bool sets_flags = code >> 29 & 1;

	if (!is_extended || sets_flags) {
		lose(next, written(code, 0));
		/* mov x30, xzr: orr with the zero register twice */
		if ((code & 0xffffffe0) == 0xaa1f03e0)
			next->act = ARM64_SET;
		return;
	}
	lose(next, field(code, 0));
	/* Accept only the whole register, not shifted: uxtx, or sxtx, which has no other
	 * effect. */
	if (!(code >> 31) || (code & 0x7c00) != 0x6000)
		return;
	next->act = code >> 30 & 1 ? ARM64_SUBTRACT_REGISTER : ARM64_ADD_REGISTER;
	next->from = field(code, 5);
	next->second = field(code, 16);
}

/* Loads and stores. @is_load: of general registers. */
static void access(struct arm64_instruction *next, uint32_t code, bool is_load)
{
	next->act = is_load ? ARM64_LOAD : ARM64_STORE;
	next->from = field(code, 5);
	next->to = written(code, 0);
}

/* @before: the base register is changed before the access, else after it. */
static void write_back(struct arm64_instruction *next, int32_t offset, bool before)
{
	next->writeback = offset;
	next->offset = before ? offset : 0;
}

static void decode_pair(uint32_t code, struct arm64_instruction *next)
{
	unsigned int size = code >> 30, mode = code >> 23 & 3;
	bool is_vector = code >> 26 & 1, is_load = code >> 22 & 1;
	int32_t offset = number(code, 15, 7);

	offset *= is_vector ? 4 << size : size == 2 ? 8 : size == 1 && !is_load ? 16 : 4;
	access(next, code, is_load);
	next->second = written(code, 10);
	next->is_whole = size == 2;
	next->offset = offset;
	if (is_vector)
		next->to = next->second = ARM64_NO_REGISTER;
	if (mode & 1)
		write_back(next, offset, mode == 3);
}

/* ldr, str of all sizes, with all forms of addresses; also atomic operations. */
static void decode_single(uint32_t code, struct arm64_instruction *next)
{
	unsigned int size = code >> 30, mode = code >> 10 & 3, kind = code >> 22 & 3;
	bool is_vector = code >> 26 & 1, is_scaled = code >> 24 & 1;

	access(next, code, is_vector ? kind & 1 : kind != 0);
	next->is_whole = size == 3 && kind < 2 && !is_vector;
	if (is_vector || (size == 3 && kind == 2)) /* the latter is prfm */
		next->to = ARM64_NO_REGISTER;
	if (is_scaled) {
		next->offset = (int32_t)(code >> 10 & 0xfff)
			       << (is_vector ? (kind & 2) * 2 + size : size);
	} else if (!(code >> 21 & 1)) {
		next->offset = number(code, 12, 9);
		if (mode & 1)
			write_back(next, next->offset, mode == 3);
	} else {
		next->is_whole = false;
		if (mode != 2) /* they load, whatever kind says */
			next->act = ARM64_LOAD;
	}
}

/* ldxr, stxr, cas and their like. */
static void decode_exclusive(uint32_t code, struct arm64_instruction *next)
{
	bool is_load = code >> 22 & 1, is_ordered = code >> 23 & 1,
	     is_pair = code >> 21 & 1;

	if (is_ordered && is_pair) { /* cas: the value found */
		lose(next, written(code, 16));
	} else if (is_load) {
		access(next, code, true);
		next->second = is_pair ? written(code, 10) : ARM64_NO_REGISTER;
	} else if (!is_ordered) { /* whether it was stored */
		lose(next, written(code, 16));
	}
}

static void decode_access(uint32_t code, struct arm64_instruction *next)
{
	bool is_vector = code >> 26 & 1;

	switch (code >> 27 & 7) {
	case 1:
		if (!is_vector)
			decode_exclusive(code, next);
		break;
	case 3: /* from an address relative to the instruction; 3 is prfm */
		if (!is_vector && code >> 30 != 3)
			lose(next, written(code, 0));
		break;
	case 5:
		decode_pair(code, next);
		break;
	case 7:
		decode_single(code, next);
		break;
	}
}

/* Instructions on floating-point and vector registers whose result is in a general
 * register. */
static void decode_vector(uint32_t code, struct arm64_instruction *next)
{
	bool is_conversion = (code & 0x7f20fc00) == 0x1e200000 ||
			     (code & 0x7f200000) == 0x1e000000;
	unsigned int kind = code >> 16 & 7;
	uint32_t copy = code & 0xbfe0fc00; /* umov, smov */

	if ((is_conversion && kind != 2 && kind != 3 && kind != 7) ||
	    copy == 0x0e003c00 || copy == 0x0e002c00)
		lose(next, written(code, 0));
}

struct arm64_instruction arm64_decode(uint32_t code, uint64_t address)
{
	struct arm64_instruction next = {
		.act = ARM64_OTHER,
		.to = ARM64_NO_REGISTER,
		.second = ARM64_NO_REGISTER,
		.from = ARM64_NO_REGISTER,
	};

	if (!(code >> 16)) /* udf */
		next.act = ARM64_STOP;
	else if ((code & 0xffa0f800) == 0x04205000) /* addvl, addpl */
		lose(&next, field(code, 0));
	else if ((code & 0x1c000000) == 0x10000000)
		decode_immediate(code, &next);
	else if ((code & 0x1c000000) == 0x14000000)
		decode_branch(code, address, &next);
	else if ((code & 0x0a000000) == 0x08000000)
		decode_access(code, &next);
	else if ((code & 0x0e000000) == 0x0a000000)
		decode_register(code, &next);
	else if ((code & 0x0e000000) == 0x0e000000)
		decode_vector(code, &next);
	return next;
}
