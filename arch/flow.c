/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/flow.h"

#include <string.h>

#include "arch/arm/arm64_code.h"
#include "arch/x86/code.h"

static struct flow_instruction decode_x86(const uint8_t *code, size_t size,
					  uint64_t address)
{
	static const uint8_t flow[] = {
		[X86_BAD] = FLOW_BAD,
		[X86_CALL] = FLOW_CALL,
		[X86_CALL_INDIRECT] = FLOW_CALL_INDIRECT,
		[X86_JUMP] = FLOW_JUMP,
		[X86_JUMP_IF] = FLOW_JUMP_IF,
		[X86_JUMP_INDIRECT] = FLOW_JUMP_INDIRECT,
		[X86_RETURN] = FLOW_RETURN,
		[X86_RETURN_FAR] = FLOW_RETURN_FAR,
		[X86_STOP] = FLOW_STOP,
		[X86_LEAVE_KERNEL] = FLOW_ON,
		[X86_HALT] = FLOW_HALT,
	};
	const struct x86_instruction next = x86_decode(code, size, address, true);

	return (struct flow_instruction){flow[next.act], next.size, next.target};
}

static struct flow_instruction decode_arm64(const uint8_t *code, size_t size,
					    uint64_t address)
{
	static const uint8_t flow[] = {
		[ARM64_CALL] = FLOW_CALL,
		[ARM64_CALL_INDIRECT] = FLOW_CALL_INDIRECT,
		[ARM64_JUMP] = FLOW_JUMP,
		[ARM64_JUMP_IF] = FLOW_JUMP_IF,
		[ARM64_JUMP_INDIRECT] = FLOW_JUMP_INDIRECT,
		[ARM64_RETURN] = FLOW_RETURN,
		[ARM64_RETURN_FAR] = FLOW_RETURN_FAR,
		[ARM64_STOP] = FLOW_STOP,
	};
	struct arm64_instruction next;
	uint32_t word;

	if (address % sizeof(word) || size < sizeof(word))
		return (struct flow_instruction){.flow = FLOW_BAD};
	memcpy(&word, code, sizeof(word));
	next = arm64_decode(word, address);
	return (struct flow_instruction){flow[next.act], sizeof(word), next.target};
}

struct flow_instruction flow_decode(bool is_arm64, const uint8_t *code, size_t size,
				    uint64_t address)
{
	return (is_arm64 ? decode_arm64 : decode_x86)(code, size, address);
}

bool flow_call_before(bool is_arm64, const uint8_t *end, size_t count, uint64_t address,
		      uint64_t *target)
{
	struct flow_instruction call;

	if (!is_arm64)
		return x86_call_before(end, count, address, true, target);
	*target = 0;
	if (count < 4)
		return false;
	call = decode_arm64(end - 4, 4, address - 4);
	if (call.flow == FLOW_CALL)
		*target = call.target;
	return call.flow == FLOW_CALL || call.flow == FLOW_CALL_INDIRECT;
}
