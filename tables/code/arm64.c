/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "arch/arm/arm64_code.h"
#include "base/array.h"
#include "tables/code/parts.h"

/*
 * As for x86-64 (flow.c), the state of the stack is carried from a function's first
 * instruction along all jumps; code after a call is examined when nothing else is left,
 * the lowest address first. Each function is examined on its own: in real programs, it
 * makes no difference whether functions that never return are known.
 */

/* Larger offsets, which real code does not have, count as unknown. */
#define OFFSET_MAX (1 << 29)

#define LOST UNWIND_LOST

/* Registers that are free for any use at a function's start and end (AAPCS64, section
 * 6.1.1). Compilers put the size of a large frame into one. */
#define CONSTANTS_MIN 9
#define CONSTANTS_MAX 17

/* The caller's value of a register. Its place stays valid after the register is loaded
 * from there, so that one rule serves up to the end of the frame. */
struct saved {
	int32_t place; /* LOST: not on the stack */
	bool is_kept;  /* the caller's value is in the register */
};

/* Addresses on the stack are bytes from the CFA. */
struct state {
	int32_t sp, fp; /* values of sp and x29; LOST if not on the stack */
	struct saved caller, caller_fp;
	bool is_outermost;
	uint8_t number; /* of a register with a constant, or ARM64_NO_REGISTER */
	int32_t constant;
};

enum kind {
	UNSEEN,
	REACHED,
	SWITCH, /* reached, and an indirect jump within the function */
	LATER,	/* reached so far only if a call returns */
};

/* An instruction. */
struct spot {
	struct state state;
	uint32_t phase; /* when its state was first known */
	uint8_t kind;
};

struct analysis {
	/* The function: */
	const uint8_t *bytes;
	uint64_t address;
	size_t count; /* of instructions */

	struct spot *spot;
	size_t spot_room;
	struct code_queue next;	 /* reached by jumps */
	struct code_queue later; /* LATER, as a heap */
	uint32_t phase;
	bool is_out_of_memory;
	bool is_interrupt; /* the function ends by returning from an exception */
	bool needs_fp;	   /* sp is not known everywhere, or set to x29 at the end */
	/* The state that most calls have, if more than half of them do. */
	struct state body;
	size_t body_votes;
};

static const struct state at_entry = {
	.sp = 0,
	.fp = LOST,
	.caller = {LOST, true},
	.caller_fp = {LOST, true},
	.number = ARM64_NO_REGISTER,
};

static bool is_same_saved(struct saved a, struct saved b)
{
	return a.place == b.place && a.is_kept == b.is_kept;
}

static bool is_same_state(const struct state *a, const struct state *b)
{
	return a->sp == b->sp && a->fp == b->fp && is_same_saved(a->caller, b->caller) &&
	       is_same_saved(a->caller_fp, b->caller_fp) &&
	       a->is_outermost == b->is_outermost && a->number == b->number &&
	       a->constant == b->constant;
}

/* Whether the stack and the registers are as at the first instruction, so that a jump is
 * a tail call. */
static bool is_entry(const struct state *state)
{
	return state->sp == 0 && state->caller.is_kept && state->caller_fp.is_kept;
}

static void meet_saved(struct saved *saved, struct saved other)
{
	if (saved->place != other.place)
		saved->place = LOST;
	saved->is_kept &= other.is_kept;
}

static void forget_constant(struct state *state)
{
	state->number = ARM64_NO_REGISTER;
	state->constant = 0;
}

/* Reduces @state to the facts that @other shares. */
static void meet(struct state *state, const struct state *other)
{
	if (state->sp != other->sp)
		state->sp = LOST;
	if (state->fp != other->fp)
		state->fp = LOST;
	meet_saved(&state->caller, other->caller);
	meet_saved(&state->caller_fp, other->caller_fp);
	state->is_outermost &= other->is_outermost;
	if (state->number != other->number || state->constant != other->constant)
		forget_constant(state);
}

static int32_t beside(int32_t place, int32_t offset)
{
	int64_t sum = (int64_t)place + offset;

	return place == LOST || sum > OFFSET_MAX || sum < -OFFSET_MAX ? LOST
								      : (int32_t)sum;
}

static int32_t value_of(const struct state *state, uint8_t reg)
{
	return reg == ARM64_SP ? state->sp : reg == ARM64_FP ? state->fp : LOST;
}

static void set_sp(struct state *state, int32_t value)
{
	state->sp = value;
	/* Words below the stack pointer are gone. */
	if (value != LOST && state->caller.place < value)
		state->caller.place = LOST;
	if (value != LOST && state->caller_fp.place < value)
		state->caller_fp.place = LOST;
}

static void set_register(struct state *state, uint8_t reg, int32_t value)
{
	if (reg == ARM64_SP) {
		set_sp(state, value);
	} else if (reg == ARM64_FP) {
		state->fp = value;
		state->caller_fp.is_kept = false;
	} else if (reg == ARM64_LINK) {
		state->caller.is_kept = false;
	} else if (reg == state->number) {
		forget_constant(state);
	}
}

/* The caller's value of the register, or NULL. */
static struct saved *saved_of(struct state *state, uint8_t reg)
{
	return reg == ARM64_FP	   ? &state->caller_fp
	       : reg == ARM64_LINK ? &state->caller
				   : NULL;
}

static void set_constant(struct state *state, const struct arm64_instruction *next)
{
	const struct saved *saved = saved_of(state, next->to);

	/* Cleared before it is saved: by this, the code says that there is no caller. */
	if (saved && saved->is_kept && saved->place == LOST && !next->offset)
		state->is_outermost = true;
	set_register(state, next->to, LOST);
	if (next->to < CONSTANTS_MIN || next->to > CONSTANTS_MAX)
		return;
	state->number = next->to;
	state->constant = next->offset;
}

static void set_part(struct state *state, const struct arm64_instruction *next)
{
	uint32_t mask = (uint32_t)0xffff << next->second;

	if (next->to == state->number)
		state->constant = (int32_t)(((uint32_t)state->constant & ~mask) |
					    (uint32_t)next->offset);
	else
		set_register(state, next->to, LOST);
}

/* sp += a large constant, or -=. */
static void add_register(struct state *state, const struct arm64_instruction *next)
{
	int32_t constant = next->act == ARM64_ADD_REGISTER ? state->constant
							   : -state->constant;
	bool is_known = next->second == state->number;

	set_register(state, next->to,
		     is_known ? beside(value_of(state, next->from), constant) : LOST);
}

/* Memory above the CFA is not the function's own frame: what an exception's handler
 * stores there does not belong to its caller. */
static void state_store(struct state *state, uint8_t reg, int32_t at)
{
	struct saved *saved = saved_of(state, reg);

	if (saved && saved->is_kept && saved->place == LOST && at < 0)
		saved->place = at;
}

static void state_load(struct state *state, uint8_t reg, int32_t at)
{
	struct saved *saved = saved_of(state, reg);

	set_register(state, reg, LOST);
	if (saved && at == saved->place && at != LOST)
		saved->is_kept = true;
}

static void access(struct state *state, const struct arm64_instruction *next)
{
	int32_t base = value_of(state, next->from);
	int32_t at = next->is_whole ? beside(base, next->offset) : LOST;
	void (*act)(struct state * state, uint8_t reg,
		    int32_t at) = next->act == ARM64_STORE ? state_store : state_load;

	if (next->to != ARM64_NO_REGISTER)
		act(state, next->to, at);
	if (next->second != ARM64_NO_REGISTER)
		act(state, next->second, beside(at, 8));
	if (next->writeback)
		set_register(state, next->from, beside(base, next->writeback));
}

static void state_step(struct state *state, const struct arm64_instruction *next)
{
	switch (next->act) {
	case ARM64_LOSE:
		if (next->to != ARM64_NO_REGISTER)
			set_register(state, next->to, LOST);
		break;
	case ARM64_ADD:
		set_register(state, next->to,
			     beside(value_of(state, next->from), next->offset));
		break;
	case ARM64_ADD_REGISTER:
	case ARM64_SUBTRACT_REGISTER:
		add_register(state, next);
		break;
	case ARM64_SET:
		set_constant(state, next);
		break;
	case ARM64_SET_PART:
		set_part(state, next);
		break;
	case ARM64_STORE:
	case ARM64_LOAD:
		access(state, next);
		break;
	default:
		break;
	}
}

/* A called function returns: the return address is in x30 no more, and nothing in the
 * registers that calls change (AAPCS64, section 6.1.1). */
static void step_call(struct state *state)
{
	forget_constant(state);
	state->caller.is_kept = false;
}

static int32_t offset_of(struct saved saved)
{
	return saved.place != LOST ? saved.place
	       : saved.is_kept	   ? UNWIND_KEPT
				   : UNWIND_LOST;
}

/* @by_fp: by x29 rather than by the stack pointer, if both are known, so that one rule
 * serves in all of the function's body. */
static struct unwind_rule rule_of(const struct state *state, bool by_fp)
{
	struct unwind_rule rule = {
		.kind = UNWIND_CALLER,
		.caller = offset_of(state->caller),
		.fp = offset_of(state->caller_fp),
	};
	int32_t base;

	rule.from_fp = state->fp != LOST && (by_fp || state->sp == LOST);
	base = rule.from_fp ? state->fp : state->sp;
	rule.cfa = -base;
	if (state->is_outermost)
		rule.kind = UNWIND_OUTERMOST;
	else if (rule.caller == UNWIND_LOST || base > 0)
		rule.kind = UNWIND_UNKNOWN;
	return rule;
}

static struct arm64_instruction instruction_at(const struct analysis *analysis, size_t at)
{
	uint32_t code;

	memcpy(&code, analysis->bytes + 4 * at, sizeof(code));
	return arm64_decode(code, analysis->address + 4 * at);
}

/*
 * Merges the state of a path into the instruction's. Paths of one phase must agree: where
 * they differ, only the facts they share remain. An earlier phase is better evidence.
 * True if the code there is to be followed (again), which happens a few times at most.
 */
static bool arrive(struct analysis *analysis, size_t at, struct state state)
{
	struct spot *spot = &analysis->spot[at];

	if (spot->kind == REACHED || spot->kind == SWITCH) {
		if (spot->phase != analysis->phase)
			return false;
		meet(&state, &spot->state);
		if (is_same_state(&state, &spot->state))
			return false;
	}
	*spot = (struct spot){state, analysis->phase, REACHED};
	analysis->needs_fp |= state.sp == LOST && state.fp != LOST;
	return true;
}

static void start_at(struct analysis *analysis, size_t at, const struct state *state)
{
	if (arrive(analysis, at, *state))
		analysis->is_out_of_memory |= !code_queue_push(&analysis->next,
							       (uint32_t)at);
}

static bool is_within(const struct analysis *analysis, uint64_t address)
{
	return (address - analysis->address) / 4 < analysis->count;
}

static void jump(struct analysis *analysis, uint64_t target, const struct state *state)
{
	if (is_within(analysis, target))
		start_at(analysis, (target - analysis->address) / 4, state);
}

/* Counts the states at calls so that the most frequent one remains, if it is that of more
 * than half of them (R. Boyer and J. Moore, "MJRTY", 1981). What is in registers does not
 * count if it is on the stack as well. */
static void vote(struct analysis *analysis, struct state state)
{
	state.caller.is_kept &= state.caller.place == LOST;
	state.caller_fp.is_kept &= state.caller_fp.place == LOST;
	if (!analysis->body_votes)
		analysis->body = state;
	if (is_same_state(&analysis->body, &state))
		analysis->body_votes++;
	else
		analysis->body_votes--;
}

/* A call within the function goes to a part of the function, and returns. */
static void call(struct analysis *analysis, size_t at,
		 const struct arm64_instruction *next, struct state state)
{
	struct spot *after = &analysis->spot[at + 1];

	if (next->act == ARM64_CALL && next->target != analysis->address)
		jump(analysis, next->target, &at_entry);
	step_call(&state);
	if (state.caller.place != LOST)
		vote(analysis, state);
	if (at + 1 == analysis->count || after->kind != UNSEEN)
		return;
	*after = (struct spot){state, analysis->phase, LATER};
	analysis->is_out_of_memory |= !code_queue_push_later(&analysis->later,
							     (uint32_t)at + 1);
}

/* add of registers, shifted or extended */
bool code_is_arm64_switch(uint32_t before, uint8_t reg)
{
	return (before & 0xff000000) == 0x8b000000 && (before & 0x1f) == reg;
}

/* A jump that is no switch, with the stack as at the function's start, is a tail call. */
static void jump_indirect(struct analysis *analysis, size_t at,
			  const struct arm64_instruction *next, const struct state *state)
{
	uint32_t before = 0;

	if (at)
		memcpy(&before, analysis->bytes + 4 * (at - 1), sizeof(before));
	if (!is_entry(state) || code_is_arm64_switch(before, next->from))
		analysis->spot[at].kind = SWITCH;
}

/* Follows one instruction; false if the path ends there. */
static bool path_take(struct analysis *analysis, size_t at,
		      const struct arm64_instruction *next, struct state *state)
{
	switch (next->act) {
	case ARM64_CALL:
	case ARM64_CALL_INDIRECT:
		call(analysis, at, next, *state);
		return false;
	case ARM64_JUMP:
		jump(analysis, next->target, state);
		return false;
	case ARM64_JUMP_IF:
		jump(analysis, next->target, state);
		return true;
	case ARM64_JUMP_INDIRECT:
		jump_indirect(analysis, at, next, state);
		return false;
	case ARM64_RETURN_FAR:
		analysis->is_interrupt = true;
		return false;
	case ARM64_RETURN:
	case ARM64_STOP:
		return false;
	default:
		analysis->needs_fp |= next->act == ARM64_ADD && next->to == ARM64_SP &&
				      next->from == ARM64_FP;
		state_step(state, next);
		return true;
	}
}

static void paths_follow(struct analysis *analysis, size_t at)
{
	struct state state = analysis->spot[at].state;

	for (;;) {
		struct arm64_instruction next = instruction_at(analysis, at);

		if (!path_take(analysis, at, &next, &state))
			return;
		if (++at == analysis->count || !arrive(analysis, at, state))
			return;
		state = analysis->spot[at].state;
	}
}

/* Follows all paths from the instruction on. */
static void follow_from(struct analysis *analysis, size_t at, const struct state *state)
{
	analysis->phase++;
	start_at(analysis, at, state);
	for (;;) {
		struct code_queue *next = &analysis->next;

		while (next->count)
			paths_follow(analysis, next->list[--next->count]);
		if (!analysis->later.count)
			return;
		at = code_queue_pop_lowest(&analysis->later);
		analysis->phase++;
		if (analysis->spot[at].kind == LATER)
			start_at(analysis, at, &analysis->spot[at].state);
	}
}

/* Whether the instruction is a nop, or can't be executed. */
static bool is_padding(const struct analysis *analysis, size_t at)
{
	uint32_t code;

	memcpy(&code, analysis->bytes + 4 * at, sizeof(code));
	return code == 0xd503201f || instruction_at(analysis, at).act == ARM64_STOP;
}

/* Code that no jump reaches, after a switch: its cases, in the state of the last one. */
static void follow_cases(struct analysis *analysis)
{
	const struct state *last = NULL;

	for (size_t i = 0; i < analysis->count; i++) {
		if (analysis->spot[i].kind == SWITCH)
			last = &analysis->spot[i].state;
		if (last && analysis->spot[i].kind == UNSEEN && !is_padding(analysis, i))
			follow_from(analysis, i, last);
	}
}

/* Code that nothing leads to, as landing pads of exceptions: follows it in the state of
 * most calls, which is the state of the function's body. */
static void follow_rest(struct analysis *analysis)
{
	const struct state body = analysis->body;

	for (size_t i = 0; i < analysis->count; i++)
		if (analysis->spot[i].kind == UNSEEN && !is_padding(analysis, i))
			follow_from(analysis, i, &body);
}

/* Finds the states of the function's instructions. */
static void function_run(struct analysis *analysis)
{
	if (analysis->count > analysis->spot_room) {
		if (!array_grow(&analysis->spot, analysis->count,
				sizeof(*analysis->spot))) {
			analysis->is_out_of_memory = true;
			return;
		}
		analysis->spot_room = analysis->count;
	}
	memset(analysis->spot, 0, analysis->count * sizeof(*analysis->spot));
	analysis->phase = 0;
	analysis->is_interrupt = analysis->needs_fp = false;
	analysis->body = at_entry;
	analysis->body_votes = 0;
	follow_from(analysis, 0, &at_entry);
	follow_cases(analysis);
	follow_rest(analysis);
}

/* Adds a rule for each run of instructions that share one. */
static int add_runs(const struct analysis *analysis, uint64_t end,
		    struct unwind_builder *builder)
{
	struct unwind_rule rule = {.kind = UNWIND_UNKNOWN};
	uint64_t start = analysis->address;

	for (size_t i = 0; i < analysis->count; i++) {
		const struct spot *spot = &analysis->spot[i];
		struct unwind_rule next = rule_of(&spot->state, analysis->needs_fp);

		if (spot->kind == UNSEEN || code_is_same_rule(&rule, &next))
			continue;
		if (unwind_builder_add(builder, start, analysis->address + 4 * i, &rule))
			return -1;
		rule = next;
		start = analysis->address + 4 * i;
	}
	return unwind_builder_add(builder, start, end, &rule);
}

static int add_function(struct analysis *analysis, const struct machine_code *code,
			size_t number, struct unwind_builder *builder)
{
	const struct code_function *function = &code->functions[number];
	size_t size = code_function_size(code, number);
	uint64_t end = function->start + size;

	if (size < 4 || function->start % 4 || function->part == CODE_PART_COLD)
		return 0;
	if (number + 1 < code->count && function[1].start - end <= PADDING_MAX &&
	    function[1].start - code->address < code->size)
		end = function[1].start;
	analysis->bytes = code->bytes + (function->start - code->address);
	analysis->address = function->start;
	analysis->count = size / 4;
	function_run(analysis);
	if (analysis->is_out_of_memory)
		return -1;
	return analysis->is_interrupt ? 0 : add_runs(analysis, end, builder);
}

int code_add_arm64(struct unwind_builder *builder, const struct machine_code *code)
{
	struct analysis analysis = {.count = 0};
	int status = 0;

	for (size_t i = 0; i < code->count && status == 0; i++)
		status = add_function(&analysis, code, i, builder);
	free(analysis.spot);
	free(analysis.next.list);
	free(analysis.later.list);
	return status;
}
