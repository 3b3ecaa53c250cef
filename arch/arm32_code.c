/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm.h"

/*
 * What code of AArch32 tells of the link register. The encodings of its instruction sets
 * A32 and T32 are from the Arm ARM (DDI 0487, issue J.a), sections F4.1 and F3.1.
 */

#define FP_ARM	 11
#define FP_THUMB 7
#define SP	 13
#define LR	 14
#define PC	 15

#define HAS(list, register) ((list) >> (register) & 1)

/* What an instruction means for the link register of the code before it. */
enum use {
	USE_NONE,
	USE_JUMP,    /* the code goes on elsewhere */
	USE_LIVE,    /* it holds the return address */
	USE_DEAD,    /* its content is not needed any more, or it can't be told */
	USE_RESTORE, /* the caller's frame pointer is loaded from the stack, and not it */
};

struct instruction {
	enum use use;
	unsigned int size; /* bytes */
	uint32_t target;   /* of a USE_JUMP */
	unsigned int slot; /* of a USE_RESTORE: bytes above the stack pointer */
	unsigned int add;  /* to the frame pointer */
};

static int32_t sign_extend(uint32_t value, unsigned int bits)
{
	return (int32_t)(value << (32 - bits)) >> (32 - bits);
}

/* push, pop, stm and ldm. */
static enum use arm_multiple(uint32_t code)
{
	unsigned int base = code >> 16 & 0xf;

	if (!(code & 1 << 20)) /* a store */
		return base == SP && HAS(code, LR) ? USE_LIVE : USE_NONE;
	if (HAS(code, PC) || HAS(code, LR))
		return USE_DEAD;
	return base == SP && HAS(code, FP_ARM) ? USE_RESTORE : USE_NONE;
}

/* str and ldr of a word. */
static enum use arm_single(uint32_t code, bool is_conditional)
{
	unsigned int base = code >> 16 & 0xf, target = code >> 12 & 0xf;

	if (!(code & 1 << 20)) /* a store */
		return base == SP && target == LR ? USE_LIVE : USE_NONE;
	/* A switch goes on with its default case, where it is not in the table. */
	if (target == PC)
		return base != SP && is_conditional ? USE_NONE : USE_DEAD;
	if (target == LR)
		return USE_DEAD;
	return base == SP && target == FP_ARM ? USE_RESTORE : USE_NONE;
}

static enum use arm_use(uint32_t code)
{
	bool is_conditional = code >> 28 != 0xe;

	if (code >> 28 == 0xf)
		return (code & 0x0e000000) == 0x0a000000 ? USE_DEAD : USE_NONE; /* blx */
	code &= 0x0fffffff;
	if ((code & 0x0f000000) == 0x0a000000) /* b */
		return is_conditional ? USE_NONE : USE_JUMP;
	if ((code & 0x0f000000) == 0x0b000000) /* bl */
		return USE_DEAD;
	if (code == 0x012fff1e || code == 0x01a0f00e) /* bx lr; mov pc, lr */
		return USE_LIVE;
	if ((code & 0x0fffffd0) == 0x012fff10) /* bx, blx */
		return USE_DEAD;
	/* add fp, sp, #n; sub fp, ip, #n; mov fp, sp */
	if ((code & 0x0ffff000) == 0x028db000 || (code & 0x0ffff000) == 0x024cb000 ||
	    code == 0x01a0b00d)
		return USE_LIVE;
	if ((code & 0x0e000000) == 0x08000000)
		return arm_multiple(code);
	if ((code & 0x0c400000) == 0x04000000 && (code & 0x02000010) != 0x02000010)
		return arm_single(code, is_conditional);
	if ((code & 0x0ff000f0) == 0x07f000f0) /* udf */
		return USE_DEAD;
	/* Computed addresses; where bits 24, 23 and 20 are 100, it is none of these. */
	if ((code & 0x0c00f000) == 0x0000f000 && (code & 0x01900000) != 0x01000000)
		return is_conditional ? USE_NONE : USE_DEAD;
	return USE_NONE;
}

static bool arm_decode(struct reader *reader, uint32_t address, struct instruction *to)
{
	uint64_t code;

	if (address % 4 || !reader_word(reader, address, 4, &code))
		return false;
	*to = (struct instruction){.use = arm_use((uint32_t)code), .size = 4};
	to->target = address + 8 + (uint32_t)sign_extend((uint32_t)code, 24) * 4;
	return true;
}

/* What is popped before the frame pointer, in bytes. */
static unsigned int slot_in(uint32_t list)
{
	return 4 * (unsigned int)__builtin_popcount(list & ((1 << FP_THUMB) - 1));
}

static void thumb_decode_16(uint32_t code, uint32_t address, struct instruction *to)
{
	if (code == 0x4770 || code == 0x46f7) { /* bx lr; mov pc, lr */
		to->use = USE_LIVE;
	} else if ((code & 0xff00) == 0xaf00 || code == 0x466f) {
		to->use = USE_LIVE;		/* add r7, sp, #n; mov r7, sp */
	} else if ((code & 0xff00) == 0x3700) { /* adds r7, #n */
		to->add = code & 0xff;
	} else if ((code & 0xff00) == 0xb500) { /* push with lr */
		to->use = USE_LIVE;
	} else if ((code & 0xff00) == 0xbd00) { /* pop with pc */
		to->use = USE_DEAD;
	} else if ((code & 0xff80) == 0xbc80) { /* pop with r7 */
		to->use = USE_RESTORE;
		to->slot = slot_in(code);
	} else if ((code & 0xf800) == 0xe000) { /* b */
		to->use = USE_JUMP;
		to->target = address + 4 + (uint32_t)sign_extend(code, 11) * 2;
	} else if ((code & 0xff00) == 0x4700 || (code & 0xff87) == 0x4687 ||
		   (code & 0xff87) == 0x4487 || (code & 0xff00) == 0xde00 ||
		   (code & 0xff00) == 0xbe00) {
		to->use = USE_DEAD; /* bx, blx; mov pc; add pc; udf; bkpt */
	}
}

static uint32_t thumb_far_target(uint32_t code, uint32_t address)
{
	uint32_t s = code >> 26 & 1;
	uint32_t i1 = ~(code >> 13 ^ s) & 1, i2 = ~(code >> 11 ^ s) & 1;
	uint32_t offset = s << 23 | i1 << 22 | i2 << 21 | (code >> 16 & 0x3ff) << 11 |
			  (code & 0x7ff);

	return address + 4 + (uint32_t)sign_extend(offset, 24) * 2;
}

static void thumb_decode_32(uint32_t code, uint32_t address, struct instruction *to)
{
	unsigned int target = code >> 12 & 0xf;

	if ((code & 0xf800c000) == 0xf000c000) { /* bl, blx */
		to->use = USE_DEAD;
	} else if ((code & 0xf800d000) == 0xf0009000) { /* b.w */
		to->use = USE_JUMP;
		to->target = thumb_far_target(code, address);
	} else if (code >> 16 == 0xe92d) { /* push */
		to->use = HAS(code, LR) ? USE_LIVE : USE_NONE;
	} else if (code >> 16 == 0xe8bd) { /* pop */
		if (HAS(code, LR) || HAS(code, PC))
			to->use = USE_DEAD;
		else if (HAS(code, FP_THUMB))
			to->use = USE_RESTORE;
		to->slot = slot_in(code);
	} else if ((code & 0xffff0fff) == 0xf84d0d04 && target == LR) {
		to->use = USE_LIVE; /* str lr, [sp, #-4]! */
	} else if ((code & 0xffff0fff) == 0xf85d0b04 && target == FP_THUMB) {
		to->use = USE_RESTORE; /* ldr r7, [sp], #4 */
	} else if ((code & 0xff700000) == 0xf8500000 && target >= LR) {
		to->use = USE_DEAD;			/* ldr lr; ldr pc */
	} else if ((code & 0xfff0ffe0) == 0xe8d0f000) { /* tbb, tbh */
		to->use = USE_DEAD;
	} else if ((code & 0xf9ff8f00) == 0xf10d0700 ||
		   (code & 0xfbff8f00) == 0xf20d0700) {
		to->use = USE_LIVE; /* add r7, sp, #n */
	}
}

static bool thumb_decode(struct reader *reader, uint32_t address, struct instruction *to)
{
	uint64_t first, second;

	*to = (struct instruction){.size = 2};
	if (!reader_word(reader, address, 2, &first))
		return false;
	if (first >> 11 < 0x1d) {
		thumb_decode_16((uint32_t)first, address, to);
		return true;
	}
	if (!reader_word(reader, address + 2, 2, &second))
		return false;
	to->size = 4;
	thumb_decode_32((uint32_t)(first << 16 | second), address, to);
	return true;
}

/*
 * All ways that the code can take from here must agree on where the return address is,
 * so one is looked at, which does not take conditional branches. Where it returns to the
 * link register, stores it, or makes a frame, before it loads the register or calls, the
 * return address is in it. GCC gives functions that call none a frame without it.
 */
struct arm32_link arm32_link(struct reader *reader, uint32_t address, bool is_thumb)
{
	struct arm32_link link = {0};
	unsigned int jumps = 0, added = 0;

	for (unsigned int step = 0; step < ARM_CODE_STEPS; step++) {
		struct instruction instruction;

		if (!(is_thumb ? thumb_decode : arm_decode)(reader, address,
							    &instruction))
			break;
		address += instruction.size;
		added += instruction.add;
		switch (instruction.use) {
		case USE_NONE:
			break;
		case USE_JUMP:
			if (jumps++ == ARM_CODE_JUMPS)
				return (struct arm32_link){0};
			address = instruction.target;
			break;
		case USE_LIVE:
			link.is_live = true;
			return link;
		case USE_DEAD:
			return (struct arm32_link){0};
		case USE_RESTORE:
			if (link.has_frame)
				break;
			link.has_frame = true;
			link.slot = added + instruction.slot;
			break;
		}
	}
	return (struct arm32_link){0};
}

static bool is_after_thumb_call(struct reader *reader, uint32_t address)
{
	uint64_t first, second;

	if (!reader_word(reader, address - 2, 2, &second))
		return false;
	if ((second & 0xff87) == 0x4780) /* blx */
		return true;
	/* bl, whose halves may lie in two pages: then the second is enough. */
	if ((second & 0xc000) != 0xc000)
		return false;
	if ((address - 2) % GUEST_PAGE_SIZE == 0)
		return true;
	return reader_word(reader, address - 4, 2, &first) && (first & 0xf800) == 0xf000;
}

bool arm32_is_after_call(struct reader *reader, uint32_t address)
{
	uint64_t code;

	if (address < 4)
		return false;
	if (address & 1)
		return is_after_thumb_call(reader, address - 1);
	if (address % 4 || !reader_word(reader, address - 4, 4, &code))
		return false;
	/* bl and blx; blx by a register; and what there was before it: bx, or a load to
	 * pc, after mov lr, pc */
	return (code & 0x0f000000) == 0x0b000000 || (code & 0xfe000000) == 0xfa000000 ||
	       (code & 0x0fffffd0) == 0x012fff10 || (code & 0x0c10f000) == 0x0410f000;
}
