/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "arch/arm/arm64_code.h"
#include "tables/code/find.h"
#include "tables/code/parts.h"

/* Instructions that are followed to see whether a function starts. */
#define STEPS 256

#define NOP 0xd503201f

static struct arm64_instruction read_arm64(const struct machine_code *code, size_t at,
					   uint32_t *word)
{
	memcpy(word, code->bytes + at, sizeof(*word));
	return arm64_decode(*word, code->address + at);
}

static bool is_instruction(const struct machine_code *code, size_t at)
{
	return (code->address + at) % 4 == 0 && at < code->size && code->size - at >= 4;
}

static bool is_padding(const struct machine_code *code, size_t at, size_t size)
{
	uint32_t word;

	(void)size;
	return read_arm64(code, at, &word).act == ARM64_STOP || word == NOP;
}

static bool accesses_link(const struct arm64_instruction *next)
{
	return (next->act == ARM64_STORE || next->act == ARM64_LOAD) &&
	       (next->to == ARM64_LINK || next->second == ARM64_LINK);
}

/* Returns the bytes that are added to the stack pointer; an odd number if it is set by
 * x29. */
static int32_t stack_change(const struct arm64_instruction *next)
{
	if (next->act == ARM64_STORE || next->act == ARM64_LOAD)
		return next->from == ARM64_SP ? next->writeback : 0;
	if (next->act != ARM64_ADD || next->to != ARM64_SP)
		return 0;
	return next->from == ARM64_SP ? next->offset : 1;
}

static bool is_call_or_stop(enum arm64_act act)
{
	return act == ARM64_CALL || act == ARM64_CALL_INDIRECT || act == ARM64_STOP;
}

/* Whether the instruction leaves the function, or the code. */
static bool leaves(const struct machine_code *code, const struct arm64_instruction *next,
		   uint32_t before)
{
	switch (next->act) {
	case ARM64_RETURN:
	case ARM64_RETURN_FAR:
		return true;
	case ARM64_JUMP:
		return next->target - code->address >= code->size;
	case ARM64_JUMP_INDIRECT:
		return !code_is_arm64_switch(before, next->from);
	default:
		return false;
	}
}

/*
 * Whether a function can start at @at: the code from there on uses the return address in
 * x30, and not the stack of other code. So it saves x30, or leaves with the stack
 * unchanged. Branches and switches are not taken.
 */
static bool is_entry(const struct machine_code *code, size_t at)
{
	uint32_t word = NOP;
	int64_t change = 0;

	for (unsigned int step = 0; step < STEPS && is_instruction(code, at); step++) {
		const uint32_t before = word;
		const struct arm64_instruction next = read_arm64(code, at, &word);

		change += stack_change(&next);
		if (accesses_link(&next))
			return next.act == ARM64_STORE;
		if (is_call_or_stop(next.act))
			return false;
		if (leaves(code, &next, before))
			return change == 0;
		at = next.act == ARM64_JUMP ? next.target - code->address : at + 4;
	}
	return false;
}

/* Judges by the code only, because compilers align functions little, or not at all. */
static enum find_start judge_arm64(const struct machine_code *code, size_t at,
				   struct find_before before)
{
	(void)before;
	return is_entry(code, at) ? FIND_START : FIND_NO_START;
}

/* Addresses that a call does not reach are made of several instructions. */
static uint64_t constant(const struct machine_code *code, size_t at, size_t size)
{
	(void)code;
	(void)at;
	(void)size;
	return 0;
}

const struct find_cpu find_arm64 = {is_padding, judge_arm64, constant};
