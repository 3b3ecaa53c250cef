/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/start.h"

#include <string.h>

#include "arch/arm/arm64_code.h"
#include "arch/flow.h"
#include "arch/x86/code.h"
#include "arch/x86/cpu.h"

/* Number of instructions that are followed behind the call */
#define STEPS 16

/* The code around a return address. */
struct place {
	bool is_arm64;
	const uint8_t *code;
	size_t size;
	uint64_t address; /* of the first byte of the code */
};

static struct flow_instruction place_decode(const struct place *place, size_t at)
{
	return flow_decode(place->is_arm64, place->code + at, place->size - at,
			   place->address + at);
}

/* Whether a number of instructions that clear the frame pointer is at @at: xor %ebp,%ebp
 * or mov x29, 0. Returns their size, or 0. */
static size_t clear_at(const struct place *place, size_t at)
{
	static const uint8_t xor_ebp[] = {0x31, 0xed}, xor_ebp_other[] = {0x33, 0xed};
	static const uint8_t mov_zero[] = {0xfd, 0x03, 0x1f, 0xaa};
	static const uint8_t mov_number[] = {0x1d, 0x00, 0x80, 0xd2};
	const uint8_t *code = place->code + at;

	if (place->is_arm64)
		return place->size - at >= 4 && (memcmp(code, mov_zero, 4) == 0 ||
						 memcmp(code, mov_number, 4) == 0)
			       ? 4
			       : 0;
	return place->size - at >= 2 && (memcmp(code, xor_ebp, 2) == 0 ||
					 memcmp(code, xor_ebp_other, 2) == 0)
		       ? 2
		       : 0;
}

/* Whether the instruction at @at overwrites the frame pointer. */
static bool changes_fp(const struct place *place, size_t at)
{
	const uint8_t *code = place->code + at;
	struct arm64_instruction arm;
	uint32_t word;

	if (!place->is_arm64)
		return x86_decode(code, place->size - at, place->address + at, true)
				       .writes >>
			       X86_RBP &
		       1;
	memcpy(&word, code, sizeof(word));
	arm = arm64_decode(word, place->address + at);
	return arm.act != ARM64_STORE &&
	       (arm.to == ARM64_FP || (arm.act == ARM64_LOAD && arm.second == ARM64_FP));
}

/* Whether the code from @from on leads straight to a call that returns to @at, with the
 * frame pointer unchanged. */
static bool is_straight(const struct place *place, size_t from, size_t at)
{
	enum flow last = FLOW_ON;

	while (from < at) {
		const struct flow_instruction next = place_decode(place, from);

		if (next.flow != FLOW_ON && next.flow != FLOW_CALL &&
		    next.flow != FLOW_CALL_INDIRECT && next.flow != FLOW_JUMP_IF)
			return false;
		if (changes_fp(place, from))
			return false;
		last = next.flow;
		from += next.size;
	}
	return from == at && (last == FLOW_CALL || last == FLOW_CALL_INDIRECT);
}

/* Whether the code behind a call stops or loops, and never changes the frame pointer.
 * @from is the start of the code that is known to be straight. */
static bool is_endless(const struct place *place, size_t from, size_t at)
{
	for (unsigned int i = 0; i < STEPS && at < place->size; i++) {
		const struct flow_instruction next = place_decode(place, at);
		uint64_t target = next.target - place->address;
		bool is_back = target >= from && target <= at;

		switch (next.flow) {
		case FLOW_STOP:
		case FLOW_HALT:
			return true;
		case FLOW_JUMP:
			if (is_back || target <= at || target >= place->size)
				return is_back;
			at = target;
			continue;
		case FLOW_JUMP_IF:
			if (!is_back)
				return false;
			break;
		case FLOW_ON:
		case FLOW_CALL:
		case FLOW_CALL_INDIRECT:
			break;
		default:
			return false;
		}
		if (changes_fp(place, at))
			return false;
		at += next.size;
	}
	return false;
}

bool code_is_start(bool is_arm64, const uint8_t *code, size_t size, size_t at,
		   uint64_t address)
{
	const struct place place = {is_arm64, code, size, address - at};
	size_t step = is_arm64 ? 4 : 1;

	if (is_arm64 && address % step)
		return false;
	for (size_t back = step; back <= at && back <= START_BEFORE; back += step) {
		size_t clear = clear_at(&place, at - back);

		if (clear && is_straight(&place, at - back + clear, at))
			return is_endless(&place, at - back + clear, at);
	}
	return false;
}
