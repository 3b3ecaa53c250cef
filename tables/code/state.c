/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/state.h"

#include <stdlib.h>
#include <string.h>

#include "arch/x86/cpu.h"

#define WORD 8

/* Larger offsets, which real code does not have, count as unknown. */
#define OFFSET_MAX (1 << 29)

#define PROBES_MAX 32

static const struct stack_place lost = {.base = BASE_LOST};

_Static_assert(sizeof(struct code_state) == 5 * STATE_PLACES + 2, "has no padding");

struct stack_place state_place(const struct code_state *state, enum state_place place)
{
	return (struct stack_place){state->base[place], state->offset[place]};
}

static void set_place(struct code_state *state, enum state_place place,
		      struct stack_place value)
{
	state->base[place] = value.base;
	state->offset[place] = value.offset;
}

static struct stack_place beside(struct stack_place place, int32_t offset)
{
	int64_t sum = (int64_t)place.offset + offset;

	if (place.base == BASE_LOST || sum > OFFSET_MAX || sum < -OFFSET_MAX)
		return lost;
	place.offset = (int32_t)sum;
	return place;
}

static bool is_same(struct stack_place a, struct stack_place b)
{
	return a.base == b.base && a.offset == b.offset && a.base != BASE_LOST;
}

struct code_state state_at_entry(void)
{
	struct code_state state = {.fp = FP_KEPT, .reg = X86_NO_REGISTER};

	set_place(&state, PLACE_SP, (struct stack_place){BASE_CFA, -WORD});
	return state;
}

bool state_is_entry(const struct code_state *state)
{
	return state_depth(state) == WORD && state->fp != FP_SAVED;
}

int32_t state_depth(const struct code_state *state)
{
	struct stack_place sp = state_place(state, PLACE_SP);

	return sp.base == BASE_CFA ? -sp.offset : 0;
}

static void forget_copy(struct code_state *state)
{
	state->reg = X86_NO_REGISTER;
	set_place(state, PLACE_COPY, lost);
}

static void forget_word(struct code_state *state)
{
	set_place(state, PLACE_WORD, lost);
	set_place(state, PLACE_WORTH, lost);
}

/* The value of a register, if it is an address on the stack. */
static struct stack_place value_of(const struct code_state *state, uint8_t reg)
{
	if (reg == X86_RSP)
		return state_place(state, PLACE_SP);
	if (reg == X86_RBP)
		return state_place(state, PLACE_BP);
	if (reg == state->reg && reg != X86_NO_REGISTER)
		return state_place(state, PLACE_COPY);
	return lost;
}

/* rsp has a new value, which the offsets of BASE_OTHER are relative to from now on. */
static void lose_sp(struct code_state *state)
{
	for (unsigned int i = 0; i < STATE_PLACES; i++)
		if (state->base[i] == BASE_OTHER)
			set_place(state, i, lost);
	if (state->base[PLACE_COPY] == BASE_LOST)
		forget_copy(state);
	if (state->base[PLACE_WORD] == BASE_LOST)
		forget_word(state);
	if (state->fp == FP_SAVED && state->base[PLACE_SAVED] == BASE_LOST)
		state->fp = FP_LOST;
	set_place(state, PLACE_SP, (struct stack_place){BASE_OTHER, 0});
}

static void set_register(struct code_state *state, uint8_t reg, struct stack_place value)
{
	if (reg == X86_RSP && value.base == BASE_LOST) {
		lose_sp(state);
	} else if (reg == X86_RSP) {
		set_place(state, PLACE_SP, value);
	} else if (reg == X86_RBP) {
		set_place(state, PLACE_BP, value);
		if (state->fp == FP_KEPT)
			state->fp = FP_LOST;
	} else if (reg != X86_NO_REGISTER && value.base != BASE_LOST) {
		state->reg = reg;
		set_place(state, PLACE_COPY, value);
	} else if (reg == state->reg) {
		forget_copy(state);
	}
}

/*
 * Stores @reg on the stack. A word counts only if it is the way back from a stack pointer
 * that became unknown; the first one stays, because later ones are pointers to variables.
 */
static void state_store(struct code_state *state, uint8_t reg, struct stack_place at)
{
	struct stack_place value = value_of(state, reg);

	if (at.base == BASE_LOST)
		return;
	if (reg == X86_RBP && state->fp == FP_KEPT) {
		state->fp = FP_SAVED;
		set_place(state, PLACE_SAVED, at);
	} else if (state->fp == FP_SAVED &&
		   is_same(at, state_place(state, PLACE_SAVED))) {
		state->fp = FP_LOST;
		set_place(state, PLACE_SAVED, lost);
	}
	if (is_same(at, state_place(state, PLACE_WORD)))
		forget_word(state);
	if (value.base == BASE_CFA && at.base == BASE_OTHER &&
	    state->base[PLACE_WORD] == BASE_LOST) {
		set_place(state, PLACE_WORD, at);
		set_place(state, PLACE_WORTH, value);
	}
}

static void state_load(struct code_state *state, uint8_t reg, struct stack_place at)
{
	struct stack_place value = lost;

	if (reg == X86_RBP && state->fp == FP_SAVED &&
	    is_same(at, state_place(state, PLACE_SAVED))) {
		state->fp = FP_KEPT;
		set_place(state, PLACE_SAVED, lost);
		set_place(state, PLACE_BP, lost);
		return;
	}
	if (is_same(at, state_place(state, PLACE_WORD)))
		value = state_place(state, PLACE_WORTH);
	set_register(state, reg, value);
}

static void state_push(struct code_state *state, uint8_t reg, int32_t offset)
{
	set_place(state, PLACE_SP, beside(state_place(state, PLACE_SP), offset));
	state_store(state, reg, state_place(state, PLACE_SP));
}

static void state_pop(struct code_state *state, uint8_t reg, int32_t offset)
{
	state_load(state, reg, state_place(state, PLACE_SP));
	set_place(state, PLACE_SP, beside(state_place(state, PLACE_SP), offset));
}

/* Addresses in other registers matter only if they lead back to the stack pointer: a
 * plain copy of rsp, the CFA, and a new end of the stack. */
static void state_add(struct code_state *state, const struct x86_instruction *sum)
{
	struct stack_place sp = state_place(state, PLACE_SP);
	struct stack_place value = beside(value_of(state, sum->from), sum->offset);
	bool is_way_back = sum->offset == 0 || value.offset == 0 ||
			   sum->act == X86_ADD_OTHER || value.offset < sp.offset;

	if (sum->to != X86_RSP && sum->to != X86_RBP && !is_way_back)
		value = lost;
	set_register(state, sum->to, value);
}

/* Registers that the instruction overwrites besides its operand. */
static void lose_others(struct code_state *state, const struct x86_instruction *next)
{
	unsigned int others = next->writes;

	if (next->to != X86_NO_REGISTER)
		others &= ~(1u << next->to);
	if (state->reg != X86_NO_REGISTER && others >> state->reg & 1)
		forget_copy(state);
	if (others >> X86_RBP & 1)
		set_register(state, X86_RBP, lost);
}

void state_step(struct code_state *state, const struct x86_instruction *next)
{
	struct stack_place sp = state_place(state, PLACE_SP);

	switch (next->act) {
	case X86_PUSH:
		state_push(state, next->from, next->offset);
		return;
	case X86_POP:
		lose_others(state, next);
		state_pop(state, next->to, next->offset);
		return;
	case X86_ADD:
	case X86_ADD_OTHER:
		state_add(state, next);
		return;
	case X86_STORE:
		state_store(state, next->from, beside(sp, next->offset));
		return;
	case X86_STORE_OTHER:
		state_store(state, next->from,
			    beside(value_of(state, next->to), next->offset));
		return;
	case X86_LOAD:
		state_load(state, next->to, beside(sp, next->offset));
		return;
	case X86_LOAD_OTHER:
		state_load(state, next->to,
			   beside(value_of(state, next->from), next->offset));
		return;
	case X86_ENTER:
		state_push(state, X86_RBP, -WORD);
		set_register(state, X86_RBP, state_place(state, PLACE_SP));
		set_place(state, PLACE_SP,
			  beside(state_place(state, PLACE_SP), next->offset));
		return;
	case X86_LEAVE:
		set_register(state, X86_RSP, state_place(state, PLACE_BP));
		state_pop(state, X86_RBP, WORD);
		return;
	case X86_LOSE:
		lose_others(state, next);
		set_register(state, next->to, lost);
		return;
	default:
		lose_others(state, next);
	}
}

void state_set_sp(struct code_state *state, uint8_t reg)
{
	struct stack_place value = value_of(state, reg);

	if (value.base != BASE_LOST)
		set_place(state, PLACE_SP, value);
}

/* Functions keep rbx, rbp and r12 to r15 (System V ABI for AMD64, section 3.2.1). */
#define KEPT_REGISTERS (1 << 3 | 1 << X86_RBP | 15 << 12)

void state_return(struct code_state *state)
{
	if (state->reg != X86_NO_REGISTER && !(KEPT_REGISTERS >> state->reg & 1))
		forget_copy(state);
}

void state_meet(struct code_state *state, const struct code_state *other)
{
	for (unsigned int i = 0; i < STATE_PLACES; i++)
		if (!is_same(state_place(state, i), state_place(other, i)))
			set_place(state, i, lost);
	if (state->reg != other->reg || state->base[PLACE_COPY] == BASE_LOST)
		forget_copy(state);
	if (state->base[PLACE_WORD] == BASE_LOST || state->base[PLACE_WORTH] == BASE_LOST)
		forget_word(state);
	if (state->fp != other->fp ||
	    (state->fp == FP_SAVED && state->base[PLACE_SAVED] == BASE_LOST)) {
		state->fp = FP_LOST;
		set_place(state, PLACE_SAVED, lost);
	}
}

static int32_t caller_fp(const struct code_state *state)
{
	if (state->fp == FP_KEPT)
		return UNWIND_KEPT;
	if (state->fp == FP_SAVED && state->base[PLACE_SAVED] == BASE_CFA)
		return state->offset[PLACE_SAVED];
	return UNWIND_LOST;
}

/* The place where the caller's rbp is, if only its distance from the register is known.
 */
static void set_fp_by_register(const struct code_state *state, struct stack_place reg,
			       struct unwind_rule *rule)
{
	struct stack_place saved = state_place(state, PLACE_SAVED);

	if (state->fp != FP_SAVED || saved.base != BASE_OTHER || reg.base != BASE_OTHER)
		return;
	rule->fp_by_register = true;
	rule->fp = saved.offset - reg.offset;
}

struct unwind_rule state_rule(const struct code_state *state)
{
	struct stack_place sp = state_place(state, PLACE_SP);
	struct stack_place bp = state_place(state, PLACE_BP);
	struct stack_place word = state_place(state, PLACE_WORD);
	struct stack_place copy = state_place(state, PLACE_COPY);
	/* A usual frame: one rule in all of the function's body. */
	bool has_frame = bp.base == BASE_CFA && state->fp == FP_SAVED &&
			 is_same(bp, state_place(state, PLACE_SAVED));
	struct unwind_rule rule = {
		.kind = UNWIND_CALLER,
		.caller = -WORD,
		.fp = caller_fp(state),
	};

	if (sp.base == BASE_CFA && sp.offset > -WORD) {
		rule.kind = UNWIND_UNKNOWN;
	} else if (sp.base == BASE_CFA && !has_frame) {
		rule.cfa = -sp.offset;
	} else if (bp.base == BASE_CFA) {
		rule.from_fp = true;
		rule.cfa = -bp.offset;
	} else if (word.base == BASE_OTHER &&
		   (bp.base == BASE_OTHER || sp.base == BASE_OTHER)) {
		rule.from_fp = bp.base == BASE_OTHER;
		rule.from_word = true;
		rule.word = word.offset - (rule.from_fp ? bp.offset : sp.offset);
		rule.cfa = -state->offset[PLACE_WORTH];
		set_fp_by_register(state, rule.from_fp ? bp : sp, &rule);
	} else if (copy.base == BASE_CFA) {
		rule.other = state->reg + 1;
		rule.cfa = -copy.offset;
	} else {
		rule.kind = UNWIND_UNKNOWN;
	}
	return rule;
}

bool states_init(struct code_states *states)
{
	states->state = calloc(STATES_MAX + 1, sizeof(*states->state));
	states->count = 0;
	memset(states->slot, 0, sizeof(states->slot));
	return states->state != NULL;
}

void states_free(struct code_states *states)
{
	free(states->state);
	states->state = NULL;
}

static unsigned int slot_of(const struct code_state *state)
{
	uint64_t word[4], hash = 0;

	_Static_assert(sizeof(word) == sizeof(*state), "all of it is hashed");
	memcpy(word, state, sizeof(word));
	for (unsigned int i = 0; i < 4; i++)
		hash = (hash ^ word[i]) * 0x9e3779b97f4a7c15;
	return (unsigned int)(hash >> 32) % STATE_SLOTS;
}

void states_clear(struct code_states *states)
{
	/* Most functions have few states, which are found again. */
	if (states->count > STATE_SLOTS / 64) {
		memset(states->slot, 0, sizeof(states->slot));
	} else {
		for (unsigned int i = 1; i <= states->count; i++) {
			unsigned int at = slot_of(&states->state[i]);

			for (; states->slot[at]; at = (at + 1) % STATE_SLOTS)
				states->slot[at] = 0;
		}
	}
	states->count = 0;
}

uint16_t states_number(struct code_states *states, const struct code_state *state)
{
	unsigned int at = slot_of(state), probes = 0;

	for (; states->slot[at]; at = (at + 1) % STATE_SLOTS) {
		if (memcmp(&states->state[states->slot[at]], state, sizeof(*state)) == 0)
			return states->slot[at];
		/* Only code that is made to fill the table needs more. */
		if (++probes == PROBES_MAX)
			return 0;
	}
	if (states->count == STATES_MAX)
		return 0;
	states->state[++states->count] = *state;
	return states->slot[at] = (uint16_t)states->count;
}
