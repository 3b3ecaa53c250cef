/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arch.h"
#include "arch/x86_code.h"
#include "unwind/code/find.h"

/* nop, int3, and nop with operands (0f 1f), all with prefixes. */
static bool is_padding(const uint8_t *code, size_t size)
{
	while (size > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		size--;
	}
	return *code == 0x90 || *code == 0xcc ||
	       (size > 2 && code[0] == 0x0f && code[1] == 0x1f);
}

static struct x86_instruction read_x86(const struct unwind_code *code, size_t at)
{
	return x86_decode(code->bytes + at, code->size - at, code->address + at, true);
}

static struct find_instruction decode(const struct unwind_code *code, size_t at)
{
	static const uint8_t flow[] = {
		[X86_BAD] = FLOW_BAD,
		[X86_CALL] = FLOW_CALL,
		[X86_CALL_INDIRECT] = FLOW_CALL_INDIRECT,
		[X86_JUMP] = FLOW_JUMP,
		[X86_JUMP_IF] = FLOW_JUMP_IF,
		[X86_JUMP_INDIRECT] = FLOW_END,
		[X86_RETURN] = FLOW_END,
		[X86_RETURN_FAR] = FLOW_END,
		[X86_STOP] = FLOW_END,
		[X86_LEAVE_KERNEL] = FLOW_ON,
	};
	const struct x86_instruction next = read_x86(code, at);

	return (struct find_instruction){
		.flow = flow[next.act],
		.size = next.size,
		.is_padding = is_padding(code->bytes + at, next.size),
		.target = next.target,
	};
}

/* Functions that use the stack start with push or with taking room from it. The others
 * are known by their alignment only. */
static enum find_start judge(const struct unwind_code *code, size_t at,
			     struct find_before before)
{
	const struct x86_instruction next = read_x86(code, at);
	bool is_prologue = next.act == X86_PUSH ||
			   (next.act == X86_ADD && next.to == X86_RSP && next.offset < 0);

	if ((before.is_end || before.is_padded || is_prologue) &&
	    (code->address + at) % FIND_ALIGNMENT == 0)
		return FIND_START;
	return before.is_end && is_prologue ? FIND_SMALL : FIND_PART;
}

const struct find_cpu find_x86 = {decode, judge};
