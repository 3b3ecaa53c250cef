/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_TABLE_STEP_H
#define UNIPROF_UNWIND_TABLE_STEP_H

#include "unwind/walk.h"

/* The rule for code in a table; for unwind/ only. Inlined, like the code in walk.h. */

#define TABLE_WORD 8

static inline uint64_t table_add(uint64_t address, int32_t offset)
{
	return address + (uint64_t)(int64_t)offset;
}

/* @window: NULL, or the reader's. */
static inline bool table_read(struct walk *walk, struct reader_window *window,
			      uint64_t address, uint64_t *word)
{
	struct reader *reader = &walk->reader;

	if (address % TABLE_WORD) {
		walk->chain->end = CHAIN_UNALIGNED;
		return false;
	}
	if (window ? reader_next_word(reader, window, address, TABLE_WORD, word)
		   : reader_word(reader, address, TABLE_WORD, word))
		return true;
	walk->chain->end = walk->reader.failure;
	return false;
}

/* Reads the caller's frame pointer, which is saved relative to @saved. This must be the
 * last part of a step: if it fails, the caller itself is still known. */
static inline enum step table_take_fp(struct walk *walk, struct reader_window *window,
				      const struct unwind_rule *rule, uint64_t saved)
{
	struct frame_state *state = &walk->state;

	if (rule->fp == UNWIND_KEPT)
		return STEP_CALLER;
	state->fp = 0;
	state->fp_is_lost = rule->fp == UNWIND_LOST;
	if (!state->fp_is_lost &&
	    !table_read(walk, window, table_add(saved, rule->fp), &state->fp))
		return STEP_LAST;
	return STEP_CALLER;
}

/*
 * Finds the return address and the stack pointer of the caller. The caller may have
 * another stack only across an interrupt, or if its stack pointer is saved on the present
 * stack, as Linux does for handlers of interrupts. A chain that goes in circles ends at
 * CHAIN_MAX.
 */
static inline enum step table_follow(struct walk *walk, const struct unwind_rule *rule,
				     uint64_t base, uint64_t cfa,
				     uint64_t (*clean)(const void *cpu, uint64_t address))
{
	struct frame_state *state = &walk->state;
	uint64_t caller = state->lr, sp = cfa;
	bool in_link = rule->kind == UNWIND_CALLER && rule->caller == UNWIND_KEPT;

	if (in_link && !state->is_sampled)
		return walk_end(walk, CHAIN_NOT_ASCENDING);
	if (rule->kind == UNWIND_CALLER && !(rule->from_word && !rule->from_fp) &&
	    cfa < state->floor + (in_link ? 0 : TABLE_WORD))
		return walk_end(walk, CHAIN_NOT_ASCENDING);
	if (!in_link && !table_read(walk, NULL, table_add(cfa, rule->caller), &caller))
		return STEP_END;
	if (rule->kind == UNWIND_INTERRUPTED &&
	    !table_read(walk, NULL, table_add(cfa, rule->word), &sp))
		return STEP_END;
	caller = clean(walk->reader.cpu, caller);
	if (!caller)
		return walk_end(walk, CHAIN_WHOLE);
	state->pc = caller;
	state->sp = state->floor = sp;
	state->by_code = state->is_sampled && rule->kind == UNWIND_CALLER;
	state->is_sampled = false;
	state->is_stopped = rule->kind == UNWIND_INTERRUPTED;
	return table_take_fp(walk, NULL, rule, rule->fp_by_register ? base : cfa);
}

/* Sets *@base to the register that the rule is relative to; false if its value is not
 * known. */
static inline bool table_base(const struct walk *walk, const struct unwind_rule *rule,
			      uint64_t *base)
{
	const struct frame_state *state = &walk->state;

	*base = rule->from_fp ? state->fp : state->sp;
	if (!rule->other)
		return rule->from_fp ? !state->fp_is_lost : *base != 0;
	if (!state->is_sampled || rule->other > walk->register_count)
		return false;
	*base = walk->registers[rule->other - 1];
	return true;
}

/* Moves to the program that made the system call. */
static inline enum step
table_leave_kernel(struct walk *walk, const struct unwind_rule *rule,
		   uint64_t (*clean)(const void *cpu, uint64_t address))
{
	struct frame_state *state = &walk->state;
	uint64_t sp = state->sp, program;

	if (!state->is_sampled || !rule->other || rule->other > walk->register_count)
		return STEP_NONE;
	if (rule->word == UNWIND_LOST)
		sp = 0;
	else if (rule->word != UNWIND_KEPT &&
		 !table_read(walk, NULL, table_add(sp, rule->word), &sp))
		return STEP_END;
	program = clean(walk->reader.cpu, walk->registers[rule->other - 1]);
	if (!program)
		return walk_end(walk, CHAIN_UNKNOWN);
	state->pc = program;
	state->sp = state->floor = sp;
	state->is_sampled = false;
	return STEP_CALLER;
}

/* Moves to the caller as the rule says. @clean: as in record_rule(). Not inlined: that
 * would slow down table_go_on(). */
static __attribute__((noinline)) enum step
table_step(struct walk *walk, const struct unwind_rule *rule,
	   uint64_t (*clean)(const void *cpu, uint64_t address))
{
	uint64_t base, word;

	if (rule->kind == UNWIND_OUTERMOST)
		return walk_end(walk, CHAIN_WHOLE);
	if (rule->kind == UNWIND_CALLED_SYSTEM)
		return table_leave_kernel(walk, rule, clean);
	/* Other rules may still apply, as after a record of AArch64. */
	if (!table_base(walk, rule, &base))
		return STEP_NONE;
	word = base;
	if (rule->from_word &&
	    !table_read(walk, NULL, table_add(base, rule->word), &word))
		return STEP_END;
	return table_follow(walk, rule, base, table_add(word, rule->cfa), clean);
}

/* Looks up the rule for an address in the tables. Not inlined: it is rare. */
static __attribute__((noinline)) const struct unwind_rule *
walk_look_up(const struct walk *walk, uint64_t address)
{
	const struct unwind_rule *rule = NULL;

	if (walk->table)
		rule = unwind_table_find(walk->table, address);
	if (!rule && walk->hypercalls)
		rule = unwind_table_find(walk->hypercalls, address);
	if (!rule && walk->kernel)
		rule = unwind_table_find(walk->kernel, address);
	if (!rule && walk->modules)
		rule = unwind_table_find(walk->modules, address);
	if (!rule && walk->found && (walk->is_found_here || is_in_upper_half(address)))
		rule = unwind_table_find(walk->found, address);
	return rule;
}

/* The rule for the instruction at @address. Most chains share callers with earlier ones,
 * so their rules are noted: lookups would touch memory all over the table. */
static inline const struct unwind_rule *walk_find_rule(const struct walk *walk,
						       uint64_t address)
{
	uint64_t key = address ^ walk->serial;
	struct rule_note *note;

	if (!walk->rule_notes)
		return walk_look_up(walk, address);
	note = &walk->rule_notes[(address ^ address >> 10) % RULE_NOTES];
	if (note->key != key) {
		note->rule = walk_look_up(walk, address);
		note->key = key;
	}
	return note->rule;
}

/*
 * Goes on by plain rules, as most chains do to the end: adds all callers to the chain but
 * the one it stops at. This is table_step() with fewer decisions, and with its state in
 * registers.
 */
static inline enum step table_go_on(struct walk *walk,
				    uint64_t (*clean)(const void *cpu, uint64_t address))
{
	struct frame_state *state = &walk->state;
	struct reader_window window = reader_window(&walk->reader);
	struct chain *chain = walk->chain;
	uint64_t pc = state->pc, sp = state->sp, base, cfa;
	uint32_t count = chain->count;
	enum step taken = STEP_CALLER;
	const struct unwind_rule *rule;

	while (taken == STEP_CALLER && count < CHAIN_MAX - 1) {
		rule = walk_find_rule(walk, pc - 1);
		if (!rule || !rule->is_plain || (rule->from_fp ? state->fp_is_lost : !sp))
			break;
		chain->address[count++] = pc;
		base = rule->from_fp ? state->fp : sp;
		cfa = table_add(base, rule->cfa);
		if (cfa < sp + TABLE_WORD) {
			taken = walk_end(walk, CHAIN_NOT_ASCENDING);
			break;
		}
		if (!table_read(walk, &window, table_add(cfa, rule->caller), &pc)) {
			taken = STEP_END;
			break;
		}
		pc = clean(walk->reader.cpu, pc);
		if (!pc) {
			taken = walk_end(walk, CHAIN_WHOLE);
			break;
		}
		sp = cfa;
		state->by_code = false;
		taken = table_take_fp(walk, &window, rule,
				      rule->fp_by_register ? base : cfa);
	}
	chain->count = count;
	state->pc = pc;
	state->sp = state->floor = sp;
	return taken;
}

/* How well a step is proven that led to the state's address. */
static inline enum return_kind guess_judge(const struct walk *walk, enum step taken)
{
	if (taken == STEP_CALLER || taken == STEP_LAST)
		return return_kind_of(walk->returns,
				      return_key(walk->state.pc, walk->space));
	return walk->chain->end == CHAIN_WHOLE ? RETURN_UNKNOWN : RETURN_BAD;
}

/*
 * A rule that is a guess competes with the frame pointer: a known return address wins
 * over something else; of two, the one that is nearer on the stack does, because a
 * function's return address is below its callers' frames. Reads at most one more frame,
 * in the page or pages that frame pointers lead to.
 */
static __attribute__((noinline)) enum step
guess_rule(struct walk *walk, const struct unwind_rule *rule,
	   uint64_t (*clean)(const void *cpu, uint64_t address))
{
	const struct frame_state before = walk->state;
	bool has_frame = !before.fp_is_lost && before.fp && before.fp >= before.floor;
	enum step taken = STEP_NONE, by_frame;
	enum return_kind kind = RETURN_BAD;
	struct frame_state guessed;
	enum chain_end end;

	if (!guess_was_wrong(walk->returns, return_key(before.pc, walk->space))) {
		taken = table_step(walk, rule, clean);
		kind = guess_judge(walk, taken);
	}
	if (taken == STEP_NONE || !has_frame ||
	    (kind != RETURN_BAD && taken == STEP_CALLER &&
	     walk->state.sp <= before.fp + 2 * TABLE_WORD))
		return taken;
	guessed = walk->state;
	end = walk->chain->end;
	walk->state = before;
	by_frame = record_rule(walk, TABLE_WORD, 0, true, clean);
	if (guess_judge(walk, by_frame) == RETURN_GOOD || kind == RETURN_BAD)
		return by_frame;
	walk->state = guessed;
	walk->chain->end = end;
	return taken;
}

/* The rule for code in the table. A return address may belong to the next function, if
 * the call does not return. */
static inline enum step table_rule(struct walk *walk,
				   uint64_t (*clean)(const void *cpu, uint64_t address))
{
	const struct unwind_rule *rule;
	enum step taken;

	if (!walk->has_rules)
		return STEP_NONE;
	rule = walk_find_rule(walk, walk->state.pc - !walk->state.is_stopped);
	if (!rule)
		return STEP_NONE;
	if (rule->is_guess)
		return guess_rule(walk, rule, clean);
	taken = table_step(walk, rule, clean);
	return taken == STEP_CALLER && !walk->state.is_stopped ? table_go_on(walk, clean)
							       : taken;
}

#endif
