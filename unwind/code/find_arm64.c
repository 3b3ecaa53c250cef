/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "arch/arm64_code.h"
#include "unwind/code/find.h"

/* Instructions that are followed to see whether a function starts. */
#define STEPS 256

#define NOP 0xd503201f

static struct arm64_instruction read_arm64(const struct unwind_code *code, size_t at,
					   uint32_t *word)
{
	memcpy(word, code->bytes + at, sizeof(*word));
	return arm64_decode(*word, code->address + at);
}

static bool is_instruction(const struct unwind_code *code, size_t at)
{
	return (code->address + at) % 4 == 0 && at < code->size && code->size - at >= 4;
}

static struct find_instruction decode(const struct unwind_code *code, size_t at)
{
	static const uint8_t flow[] = {
		[ARM64_CALL] = FLOW_CALL,
		[ARM64_CALL_INDIRECT] = FLOW_CALL_INDIRECT,
		[ARM64_JUMP] = FLOW_JUMP,
		[ARM64_JUMP_IF] = FLOW_JUMP_IF,
		[ARM64_JUMP_INDIRECT] = FLOW_END,
		[ARM64_RETURN] = FLOW_END,
		[ARM64_RETURN_FAR] = FLOW_END,
		[ARM64_STOP] = FLOW_END,
	};
	struct arm64_instruction next;
	uint32_t word;

	if (!is_instruction(code, at))
		return (struct find_instruction){.flow = FLOW_BAD};
	next = read_arm64(code, at, &word);
	return (struct find_instruction){
		.flow = flow[next.act],
		.size = sizeof(word),
		.is_padding = word == NOP || next.act == ARM64_STOP,
		.target = next.target,
	};
}

static bool is_any(const struct arm64_instruction *next, uint8_t reg)
{
	return next->to == reg || next->second == reg;
}

/* add of registers, shifted or extended */
static bool arm64_is_switch(uint32_t before, uint8_t reg)
{
	return (before & 0xff000000) == 0x8b000000 && (before & 0x1f) == reg;
}

/* paciasp and pacibsp, which sign the return address; bti c and bti jc, where calls may
 * lead (Arm ARM, C6.2, "BTI", "PACIA"). */
static bool is_landing(uint32_t code)
{
	return code == 0xd503233f || code == 0xd503237f || code == 0xd503245f ||
	       code == 0xd50324df;
}

/*
 * Whether what starts there uses the return address in x30, and none of the stack of what
 * was before: it saves x30, or leaves by a return or a jump with the stack as it was.
 * Conditional branches are not taken.
 */
static bool is_entry(const struct unwind_code *code, size_t at)
{
	uint32_t before = NOP;
	int64_t sp = 0;

	for (unsigned int step = 0; step < STEPS && is_instruction(code, at); step++) {
		uint32_t word;
		const struct arm64_instruction next = read_arm64(code, at, &word);
		bool is_switch = arm64_is_switch(before, next.from);

		before = word;
		at += 4;
		if (is_landing(word))
			return true;
		switch (next.act) {
		case ARM64_STORE:
			if (is_any(&next, ARM64_LINK))
				return true;
			/* fall through */
		case ARM64_LOAD:
			if (next.act == ARM64_LOAD && is_any(&next, ARM64_LINK))
				return false;
			sp += next.from == ARM64_SP ? next.writeback : 0;
			break;
		case ARM64_ADD:
			if (next.to == ARM64_SP && next.from == ARM64_FP)
				return false;
			sp += next.to == ARM64_SP ? next.offset : 0;
			break;
		case ARM64_CALL:
		case ARM64_CALL_INDIRECT:
		case ARM64_STOP:
			return false;
		case ARM64_JUMP:
			at = next.target - code->address;
			if (at >= code->size)
				return sp == 0;
			break;
		case ARM64_JUMP_INDIRECT:
			/* A switch is followed like a branch. */
			if (is_switch)
				break;
			return sp == 0;
		case ARM64_RETURN:
		case ARM64_RETURN_FAR:
			return sp == 0;
		default:
			break;
		}
		if (sp > 0)
			return false;
	}
	return false;
}

/* Compilers align functions little, or not at all. */
static enum find_start judge(const struct unwind_code *code, size_t at,
			     struct find_before before)
{
	(void)before;
	return is_entry(code, at) ? FIND_START : FIND_NO_START;
}

const struct find_cpu find_arm64 = {decode, judge};
