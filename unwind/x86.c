/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/table_step.h"
#include "unwind/walk.h"
#include "unwind/x86_exit.h"

static enum translation translate(const void *cpu, const struct guest_memory *memory,
				  uint64_t address, uint64_t *frame)
{
	return x86_translate(cpu, memory, address, frame);
}

/* Maximum distance of code from the start of its function, if a call of that start is the
 * only evidence. */
#define FUNCTION_MAX 65536

/* Whether the word may be the function's return address. If the exit is only possible
 * (EXIT_BY_CHANCE), the call before the word must be to this function. */
static bool is_return(struct walk *walk, const struct x86_exit *exit, uint64_t caller,
		      unsigned int word)
{
	uint64_t target;

	if (!x86_follows_call(&walk->reader, caller, word, &target))
		return false;
	return exit->kind != EXIT_BY_CHANCE ||
	       (target && walk->state.pc - target < FUNCTION_MAX);
}

static bool read_word(struct walk *walk, uint64_t address, unsigned int word,
		      uint64_t *value)
{
	return address % word == 0 && reader_word(&walk->reader, address, word, value);
}

/*
 * The rule for functions that have no frame, at all or at that point: the sampled one or
 * one that was interrupted, and its caller, because a function that calls only Xen's
 * hypercall page may not have one either. The result of the code analysis is checked: a
 * return address must be preceded by a call.
 */
static enum step exit_rule(struct walk *walk, unsigned int word)
{
	const struct x86_cpu *cpu = walk->reader.cpu;
	const struct frame_state *state = &walk->state;
	struct x86_exit exit = x86_leave(&walk->reader, state->pc, cpu->cr3, word);
	uint64_t at = state->sp + (uint64_t)(int64_t)exit.caller;
	uint64_t saved = state->sp + (uint64_t)(int64_t)exit.saved;
	uint64_t caller, next = state->fp;
	bool was_stopped = state->is_stopped;
	enum step step = STEP_CALLER;

	walk->exits++;
	if (exit.kind == EXIT_BY_FRAME)
		return STEP_NONE;
	/* It has a frame: the one at the frame pointer. */
	if (exit.has_saved && saved == state->fp && at == saved + word)
		return STEP_NONE;
	if (!read_word(walk, at, word, &caller) ||
	    (exit.has_saved && !read_word(walk, saved, word, &next)) ||
	    (exit.kind == EXIT_IN_MAKING && next != state->fp) ||
	    !is_return(walk, &exit, caller, word))
		return STEP_NONE;
	walk->chain->frameless = true;
	if (exit.has_saved && exit.kind != EXIT_IN_MAKING) {
		step = walk_to_caller(walk, at, next, caller, at + word);
	} else {
		walk->state.pc = caller;
		walk->state.sp = at + word;
		walk->state.is_sampled = walk->state.is_stopped = false;
	}
	if (walk->table)
		walk->state.floor = at + word;
	walk->state.by_code = was_stopped;
	return step;
}

static uint64_t as_it_is(const void *cpu, uint64_t address)
{
	(void)cpu;
	return address;
}

static inline enum step step(struct walk *walk, unsigned int word)
{
	enum step taken = STEP_NONE;

	if (word == 8)
		taken = table_rule(walk, as_it_is);
	if (taken == STEP_NONE && (walk->state.is_stopped || walk->state.by_code) &&
	    walk->exits < X86_EXITS_MAX)
		taken = exit_rule(walk, word);
	if (taken == STEP_NONE)
		taken = record_rule(walk, word, 0, true, as_it_is);
	return taken;
}

static enum step step_64(struct walk *walk)
{
	return step(walk, 8);
}

static enum step step_32(struct walk *walk)
{
	return step(walk, 4);
}

void x86_unwind(const struct x86_cpu *cpu, const struct guest_memory *memory,
		struct chain *chain)
{
	struct walk walk = {
		.reader = {.translate = translate, .cpu = cpu, .memory = memory},
		.chain = chain,
		.state = {.pc = cpu->rip,
			  .sp = cpu->reg[X86_RSP],
			  .fp = cpu->reg[X86_RBP],
			  .is_sampled = true,
			  .is_stopped = true},
	};

	chain->count = 0;
	chain->end = CHAIN_WHOLE;
	chain->frameless = chain->is_stack = false;
	chain->address[chain->count++] = cpu->rip;
	if (x86_is_real(cpu)) {
		chain->address[0] = (cpu->cs << 4) + cpu->rip;
		chain->end = CHAIN_REAL_MODE;
		return;
	}
	if (x86_kind(cpu) != CPU_X86_64 || cpu->is_compat) {
		walk_follow(&walk, step_32);
		return;
	}
	walk_use_table(&walk, cpu->reg, X86_REGISTERS);
	walk_follow(&walk, step_64);
}
