/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/cpu.h"
#include "unwind/walk.h"

static enum translation translate_arm(const void *cpu, const struct guest_memory *memory,
				      struct last_table *last, uint64_t address,
				      uint64_t *frame)
{
	(void)last;
	return arm_translate(cpu, memory, address, frame);
}

void arm_unwind(const struct arm_cpu *cpu, const struct unwind_input *input,
		struct chain *chain)
{
	struct walk walk = {
		.reader = {.translate = translate_arm, .cpu = cpu, .input = input},
		.chain = chain,
		.state = {.pc = cpu->pc, .is_sampled = true, .is_stopped = true},
	};

	chain->count = 0;
	chain->end = CHAIN_UNKNOWN;
	chain->frameless = chain->is_stack = false;
	chain->address[chain->count++] = cpu->pc;
	if (arm_is_aarch32(cpu))
		arm32_walk(&walk);
	else
		arm64_walk(&walk);
}
