/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "arch/x86/code.h"
#include "arch/x86/cpu.h"
#include "tables/code/find.h"

/* nop, int3, and nop with operands (0f 1f), all with prefixes. */
static bool is_padding(const struct machine_code *of, size_t at, size_t size)
{
	const uint8_t *code = of->bytes + at;

	while (size > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		size--;
	}
	return *code == 0x90 || *code == 0xcc ||
	       (size > 2 && code[0] == 0x0f && code[1] == 0x1f);
}

/* How many instructions is_entry() looks at. */
#define STEPS 256

/*
 * Whether a function may start at @at: the code from there on, along the jumps that are
 * always taken, does not release more of the stack than it has taken. Cases of switches,
 * which may be aligned like functions, do so at the end of their function. The start of a
 * program, which first clears rbp, takes its arguments from the stack (System V ABI for
 * AMD64, section 3.4.1).
 *
 * What jumps back to @at is a loop, which compilers align. Only behind a certain end
 * (@is_after_end) of other code is it a function's: a call before it may return.
 */
static bool is_entry(const struct machine_code *code, size_t at, bool is_after_end)
{
	const uint64_t start = code->address + at;
	bool has_frame = false, is_call = false;
	int64_t taken = 0;

	for (unsigned int step = 0; step < STEPS && at < code->size; step++) {
		const struct x86_instruction next = x86_decode(
			code->bytes + at, code->size - at, code->address + at, true);

		if (!step && next.act == X86_LOSE && next.to == X86_RBP)
			return true;
		if (is_call && is_padding(code, at, next.size))
			return true;
		is_call = next.act == X86_CALL || next.act == X86_CALL_INDIRECT;
		at += next.size;
		switch (next.act) {
		case X86_PUSH:
		case X86_POP:
			taken -= next.offset;
			break;
		case X86_ADD:
			if (next.to == X86_RBP)
				has_frame = true;
			if (next.to != X86_RSP)
				break;
			if (next.from != X86_RSP)
				return has_frame;
			taken -= next.offset;
			break;
		case X86_LEAVE:
			return has_frame;
		case X86_JUMP:
			if (next.target == start)
				return is_after_end;
			at = next.target - code->address;
			break;
		case X86_RETURN:
			return taken == 0;
		case X86_BAD:
		case X86_ENTER:
		case X86_JUMP_INDIRECT:
		case X86_RETURN_FAR:
		case X86_STOP:
		case X86_LEAVE_KERNEL:
			return true;
		default:
			break;
		}
		if (taken < 0)
			return false;
	}
	return true;
}

/* Functions that use the stack start with push or with taking room from it. Other
 * functions are known by their alignment only. */
static enum find_start judge_x86(const struct machine_code *code, size_t at,
				 struct find_before before)
{
	const struct x86_instruction next = x86_decode(code->bytes + at, code->size - at,
						       code->address + at, true);
	bool is_prologue = next.act == X86_PUSH ||
			   (next.act == X86_ADD && next.to == X86_RSP && next.offset < 0);
	bool is_aligned = (code->address + at) % FIND_ALIGNMENT == 0;

	if (is_prologue ? !is_aligned && !before.is_end
			: !is_aligned || (!before.is_end && !before.is_padded))
		return FIND_PART;
	return is_entry(code, at, before.is_end) ? FIND_START : FIND_PART;
}

/* mov $address, %register: GCC's -mcmodel=large has it before calls. */
static uint64_t constant(const struct machine_code *code, size_t at, size_t size)
{
	const uint8_t *bytes = code->bytes + at;
	uint64_t address = 0;

	if (size == 2 + sizeof(address) && (bytes[0] & 0xfe) == 0x48 &&
	    (bytes[1] & 0xf8) == 0xb8)
		memcpy(&address, bytes + 2, sizeof(address));
	return address;
}

const struct find_cpu find_x86 = {is_padding, judge_x86, constant};
