/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/riscv/code.h"
#include "unwind/walk.h"

/*
 * Frames of RISC-V: the frame pointer s0 points just above the return address, below
 * which is the caller's frame pointer (psABI, "Frame Pointer Convention"). GCC before 14
 * saves only the frame pointer, in the return address's place, in a function that makes
 * no calls.
 */
#define RECORD 16

static enum translation translate_riscv(const void *cpu,
					const struct guest_memory *memory,
					struct last_table *last, uint64_t address,
					uint64_t *frame)
{
	(void)last;
	return riscv_translate(cpu, memory, address, frame);
}

static uint64_t as_it_is(const void *cpu, uint64_t address)
{
	(void)cpu;
	return address;
}

/* The effect of the code from the sampled address on, before it uses ra. */
struct leaf {
	uint64_t sp; /* the stack pointer; 0: not known */
	uint64_t fp; /* the frame pointer */
	/* Where the caller's frame pointer is; 0: in the register. */
	uint64_t saved;
	unsigned int jumps;
};

enum verdict {
	GO_ON,
	LIVE,
	DEAD,
};

static enum verdict leaf_judge(struct leaf *leaf,
			       const struct riscv_instruction *instruction)
{
	uint64_t value = (uint64_t)(int64_t)instruction->value;

	switch (instruction->use) {
	case RISCV_NOTHING:
		break;
	case RISCV_JUMP:
		if (leaf->jumps++ == CODE_JUMPS)
			return DEAD;
		break;
	case RISCV_RETURN:
	case RISCV_SAVES:
	case RISCV_SETS_FP:
		return LIVE;
	case RISCV_LOADS_FP:
		if (!leaf->sp)
			return DEAD;
		if (!leaf->saved)
			leaf->saved = leaf->sp + value;
		break;
	case RISCV_MOVES_SP:
		leaf->sp = leaf->sp ? leaf->sp + value : 0;
		break;
	case RISCV_SP_BY_FP:
		leaf->sp = leaf->fp + value;
		break;
	case RISCV_LOSES_SP:
		leaf->sp = 0;
		break;
	case RISCV_ENDS:
		return DEAD;
	}
	return GO_ON;
}

/*
 * Whether ra holds the sampled function's return address, as in unwind/arm64.c: the
 * answer is yes if the code, before it loads ra or makes a call, returns, saves ra or the
 * frame pointer, or sets up a frame. If it loads the frame pointer before that, it has a
 * frame, and the caller's frame pointer is there.
 */
static bool ra_is_live(struct reader *reader, uint64_t address, struct leaf *leaf)
{
	for (unsigned int step = 0; step < CODE_STEPS; step++) {
		struct riscv_instruction instruction;
		enum verdict verdict;
		uint64_t code, more;

		if (address % 2 || !reader_word(reader, address, 2, &code))
			return false;
		if (riscv_is_long((uint32_t)code)) {
			if (!reader_word(reader, address + 2, 2, &more))
				return false;
			code |= more << 16;
		}
		instruction = riscv_use_of((uint32_t)code);
		verdict = leaf_judge(leaf, &instruction);
		if (verdict != GO_ON)
			return verdict == LIVE;
		address += instruction.use == RISCV_JUMP
				   ? (uint64_t)(int64_t)instruction.value
				   : instruction.size;
	}
	return false;
}

/* The rule for ra. */
static enum step ra_rule(struct walk *walk)
{
	struct frame_state *state = &walk->state;
	struct leaf leaf = {.sp = state->sp, .fp = state->fp};

	if (!state->lr || !ra_is_live(&walk->reader, state->pc, &leaf))
		return STEP_NONE;
	if (leaf.saved &&
	    (leaf.saved % 8 || !reader_word(&walk->reader, leaf.saved, 8, &state->fp)))
		return STEP_NONE;
	state->pc = state->lr;
	state->sp = 0;
	state->is_sampled = state->is_stopped = false;
	walk->chain->frameless = true;
	return STEP_CALLER;
}

static enum step riscv_step(struct walk *walk)
{
	enum step taken = STEP_NONE;

	if (walk->state.is_sampled)
		taken = ra_rule(walk);
	if (taken == STEP_NONE)
		taken = record_rule(walk, 8, RECORD, false, as_it_is);
	return taken;
}

void riscv_unwind(const struct riscv_cpu *cpu, const struct unwind_input *input,
		  struct chain *chain)
{
	struct walk walk = {
		.reader = {.translate = translate_riscv, .cpu = cpu, .input = input},
		.chain = chain,
		.state = {.pc = cpu->pc,
			  .sp = cpu->x[RISCV_SP],
			  .fp = cpu->x[RISCV_FP],
			  .lr = cpu->x[RISCV_RA],
			  .is_sampled = true,
			  .is_stopped = true},
	};

	chain->count = 0;
	chain->end = CHAIN_UNKNOWN;
	chain->frameless = false;
	chain->address[chain->count++] = cpu->pc;
	walk_follow(&walk, riscv_step);
}
