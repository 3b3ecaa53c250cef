/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CODE_STATE_H
#define UNIPROF_TABLES_CODE_STATE_H

/* The known state of a function's stack at an instruction of x86-64; for tables/code/
 * only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arch/x86/code.h"
#include "unwind/table.h"

/* The base that an address on the stack is relative to. */
enum stack_base {
	BASE_LOST,  /* not known */
	BASE_CFA,   /* the canonical frame address */
	BASE_OTHER, /* the stack pointer when it last became unknown, as if aligned */
};

struct stack_place {
	uint8_t base; /* enum stack_base */
	int32_t offset;
};

enum state_place {
	PLACE_SP,    /* value of rsp */
	PLACE_BP,    /* value of rbp */
	PLACE_COPY,  /* value of the register state.reg, a copy of rsp */
	PLACE_SAVED, /* where the caller's rbp is, if FP_SAVED */
	PLACE_WORD,  /* a word on the stack with an address relative to the CFA */
	PLACE_WORTH, /* the address in the word at PLACE_WORD */
	STATE_PLACES,
};

/* Where the caller's frame pointer is. */
enum caller_fp {
	FP_KEPT, /* in rbp */
	FP_SAVED,
	FP_LOST,
};

/* Without padding: states are compared as bytes. */
struct code_state {
	int32_t offset[STATE_PLACES];
	uint8_t base[STATE_PLACES];
	uint8_t fp;  /* enum caller_fp */
	uint8_t reg; /* X86_NO_REGISTER: there is no copy */
};

/* Returns the state at a function's first instruction. */
struct code_state state_at_entry(void);
/* Returns whether the stack is as at the first instruction: a jump is a tail call then.
 * OCaml's functions don't keep rbp. */
bool state_is_entry(const struct code_state *state);

struct stack_place state_place(const struct code_state *state, enum state_place place);

/* Returns how much of the stack is in use below the CFA, bytes; 0 if not known. */
int32_t state_depth(const struct code_state *state);

/* Applies @instruction, which is not a call. */
void state_step(struct code_state *state, const struct x86_instruction *instruction);
/* Applies what a called function has done when it returns. */
void state_return(struct code_state *state);

/* Notes that rsp is equal to @reg. */
void state_set_sp(struct code_state *state, uint8_t reg);

/* Reduces *@state to the facts that @other shares. */
void state_meet(struct code_state *state, const struct code_state *other);

/* Returns the rule that finds the caller in this state; UNWIND_UNKNOWN if none does. */
struct unwind_rule state_rule(const struct code_state *state);

/*
 * The states of one function, numbered from 1, so that an instruction needs two bytes for
 * its state. Starts zeroed; free the array.
 */
#define STATES_MAX  2048
#define STATE_SLOTS (4 * STATES_MAX)

struct code_states {
	struct code_state *state;
	unsigned int count;
	uint16_t slot[STATE_SLOTS]; /* hash table; 0: free */
};

/* Returns false if out of memory. */
bool states_init(struct code_states *states);
void states_free(struct code_states *states);
void states_clear(struct code_states *states);
/* Returns the number of a state, which is added unless it is known; 0 if there are too
 * many. */
uint16_t states_number(struct code_states *states, const struct code_state *state);

static inline const struct code_state *states_get(const struct code_states *states,
						  uint16_t number)
{
	return &states->state[number];
}

#endif
