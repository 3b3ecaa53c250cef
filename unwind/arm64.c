/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/cpu.h"
#include "arch/arm/arm64_code.h"
#include "unwind/table_step.h"
#include "unwind/walk.h"

/*
 * Frames of AArch64: x29 points to a record of the caller's x29 and, above it, the return
 * address (AAPCS64, section 6.4.6).
 */

#define FRAME_POINTER 29
#define LINK_REGISTER 30

static uint64_t pac_strip(const void *cpu, uint64_t address)
{
	return arm64_strip(cpu, address);
}

/*
 * Whether the link register holds the sampled function's return address, and x29 still or
 * again points to the caller's frame. All paths through the code from here must agree on
 * that, so only one is followed, which doesn't take conditional branches. The answer is
 * yes if, before it loads the register or makes a call, it returns, stores the register,
 * or sets up a new frame after storing it. This covers functions without a frame, and the
 * code before a frame is set up and after it is removed.
 */
static bool link_is_live(struct reader *reader, uint64_t address)
{
	unsigned int jumps = 0;

	for (unsigned int step = 0; step < CODE_STEPS; step++, address += 4) {
		uint64_t code;

		if (address % 4 || !reader_word(reader, address, 4, &code))
			return false;
		switch (arm64_use_of((uint32_t)code)) {
		case ARM64_LINK_NONE:
			break;
		case ARM64_LINK_JUMP:
			if (jumps++ == CODE_JUMPS)
				return false;
			/* A signed distance of 26 bits, in words, from here. */
			address += (uint64_t)((int64_t)(code << 38) >> 36) - 4;
			break;
		case ARM64_LINK_LIVE:
			return true;
		case ARM64_LINK_DEAD:
			return false;
		}
	}
	return false;
}

/* The rule for the link register. */
static enum step link_rule(struct walk *walk)
{
	uint64_t caller = pac_strip(walk->reader.cpu, walk->state.lr);

	if (!caller || !link_is_live(&walk->reader, walk->state.pc))
		return STEP_NONE;
	walk->state.pc = caller;
	walk->state.sp = 0;
	walk->state.is_sampled = walk->state.is_stopped = false;
	walk->chain->frameless = true;
	return STEP_CALLER;
}

static enum step arm64_step(struct walk *walk)
{
	enum step taken = table_rule(walk, pac_strip);

	if (taken == STEP_NONE && walk->state.is_sampled)
		taken = link_rule(walk);
	if (taken == STEP_NONE)
		taken = record_rule(walk, 8, 0, false, pac_strip);
	return taken;
}

void arm64_walk(struct walk *walk)
{
	const struct arm_cpu *cpu = walk->reader.cpu;

	walk->state.sp = arm64_sp(cpu);
	walk->state.fp = cpu->x[FRAME_POINTER];
	walk->state.lr = cpu->x[LINK_REGISTER];
	walk_use_table(walk, cpu->x, ARM_REGISTERS, arm_space(cpu));
	walk_follow(walk, arm64_step);
}
