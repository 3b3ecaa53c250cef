/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arch.h"
#include "arch/x86_code.h"
#include "unwind/code/find.h"

/* nop, int3, and nop with operands (0f 1f), all with prefixes. */
static bool is_padding(const struct unwind_code *of, size_t at, size_t size)
{
	const uint8_t *code = of->bytes + at;

	while (size > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		size--;
	}
	return *code == 0x90 || *code == 0xcc ||
	       (size > 2 && code[0] == 0x0f && code[1] == 0x1f);
}

/* Functions that use the stack start with push or with taking room from it. The others
 * are known by their alignment only. */
static enum find_start judge(const struct unwind_code *code, size_t at,
			     struct find_before before)
{
	const struct x86_instruction next = x86_decode(code->bytes + at, code->size - at,
						       code->address + at, true);
	bool is_prologue = next.act == X86_PUSH ||
			   (next.act == X86_ADD && next.to == X86_RSP && next.offset < 0);

	if ((before.is_end || before.is_padded || is_prologue) &&
	    (code->address + at) % FIND_ALIGNMENT == 0)
		return FIND_START;
	return before.is_end && is_prologue ? FIND_SMALL : FIND_PART;
}

const struct find_cpu find_x86 = {is_padding, judge};
