/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm.h"

#include <string.h>

/*
 * Frames of AArch64: x29 points at a record of the caller's x29 and, above it, the
 * return address (AAPCS64, section 6.4.6). "Arm ARM" is DDI 0487, issue J.a; the
 * encodings are from its section C4.1.
 */

#define FRAME_POINTER 29
#define LINK_REGISTER 30
#define STACK_POINTER 31 /* as the base of an address */

#define SPSEL 1ull /* of PSTATE: EL1's own stack pointer, not EL0's */

/* Pointer authentication puts its code where an address has no bits of its own, but
 * for bit 55 (Arm ARM, section D8.9). */
static uint64_t strip(const void *cpu, uint64_t address)
{
	bool upper = address >> 55 & 1;
	uint64_t own = ((uint64_t)1 << arm64_address_bits(cpu, upper)) - 1;

	return upper ? address | ~own : address & own;
}

/* What an instruction means for the link register of the code before it. */
enum use {
	USE_NONE,
	USE_JUMP, /* the code goes on elsewhere */
	USE_LIVE, /* it holds the return address */
	USE_DEAD, /* its content is not needed any more, or it can't be told */
};

/* Branches to addresses in registers: ret, retaa and retab, of x30, are what is looked
 * for; all others are calls, or lead nobody knows where. */
static enum use use_of_branch(uint32_t code)
{
	if (code == 0xd65f03c0 || code == 0xd65f0bff || code == 0xd65f0fff)
		return USE_LIVE;
	return USE_DEAD;
}

/* Loads of x30, and stores on the stack, alone or in a pair. */
static enum use use_of_access(uint32_t code)
{
	bool is_pair = (code & 0xfe000000) == 0xa8000000;
	bool is_single = (code & 0xff800000) == 0xf9000000 || /* an offset from there */
			 (code & 0xffa00000) == 0xf8000000;   /* or one that is added */
	bool has_link = (code & 0x1f) == LINK_REGISTER ||
			(is_pair && (code >> 10 & 0x1f) == LINK_REGISTER);

	if (!(is_pair || is_single) || !has_link)
		return USE_NONE;
	if (code & 1 << 22) /* a load */
		return USE_DEAD;
	return (code >> 5 & 0x1f) == STACK_POINTER ? USE_LIVE : USE_NONE;
}

static enum use use_of(uint32_t code)
{
	if ((code & 0xfc000000) == 0x14000000)
		return USE_JUMP;
	if ((code & 0xfc000000) == 0x94000000) /* bl */
		return USE_DEAD;
	if ((code & 0xfe000000) == 0xd6000000)
		return use_of_branch(code);
	if ((code & 0xff8003ff) == 0x910003fd) /* add x29, sp, #n; mov x29, sp */
		return USE_LIVE;
	if ((code & 0xffe0001f) == 0xd4200000 || !(code >> 16)) /* brk, udf */
		return USE_DEAD;
	return use_of_access(code);
}

/*
 * Whether the link register holds the sampled function's return address, and x29 still,
 * or again, the caller's frame. All ways that the code can take from here must agree on
 * that, so one is looked at, which does not take conditional branches: where it comes to
 * a return, or stores the register, or makes a new frame after it has stored it, before
 * it loads the register or calls, it does. So it is in functions without a frame, and
 * before and after there is one.
 */
static bool link_is_live(struct reader *reader, uint64_t address)
{
	unsigned int jumps = 0;

	for (unsigned int step = 0; step < ARM_CODE_STEPS; step++, address += 4) {
		uint64_t code;

		if (address % 4 || !reader_word(reader, address, 4, &code))
			return false;
		switch (use_of((uint32_t)code)) {
		case USE_NONE:
			break;
		case USE_JUMP:
			if (jumps++ == ARM_CODE_JUMPS)
				return false;
			/* A signed distance of 26 bits, in words, from here. */
			address += (uint64_t)((int64_t)(code << 38) >> 36) - 4;
			break;
		case USE_LIVE:
			return true;
		case USE_DEAD:
			return false;
		}
	}
	return false;
}

static void add_frameless_caller(struct reader *reader, struct chain *chain)
{
	const struct arm_cpu *cpu = reader->cpu;
	uint64_t caller = strip(cpu, cpu->x[LINK_REGISTER]);

	if (!caller || !link_is_live(reader, cpu->pc))
		return;
	chain->address[chain->count++] = caller;
	chain->frameless = true;
}

void arm64_unwind(struct reader *reader, struct chain *chain)
{
	const struct arm_cpu *cpu = reader->cpu;

	add_frameless_caller(reader, chain);
	reader_follow(reader, cpu->x[FRAME_POINTER], 8, strip, chain);
}

size_t arm64_registers(const struct arm_cpu *cpu, struct register_value *values)
{
	static const char *const names[ARM_REGISTERS] = {
		"x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",	 "x7",
		"x8",  "x9",  "x10", "x11", "x12", "x13", "x14", "x15",
		"x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
		"x24", "x25", "x26", "x27", "x28", "x29", "x30",
	};
	const struct register_value others[] = {
		{"sp", cpu->cpsr & SPSEL ? cpu->sp_el1 : cpu->sp_el0},
		{"pc", cpu->pc},
		{"pstate", cpu->cpsr},
		{"sctlr", cpu->sctlr},
		{"tcr", cpu->tcr},
		{"ttbr0", cpu->ttbr0},
		{"ttbr1", cpu->ttbr1},
	};

	for (size_t i = 0; i < ARM_REGISTERS; i++)
		values[i] = (struct register_value){names[i], cpu->x[i]};
	memcpy(values + ARM_REGISTERS, others, sizeof(others));
	return ARM_REGISTERS + sizeof(others) / sizeof(others[0]);
}
