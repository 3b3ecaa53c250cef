/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CODE_FLOW_H
#define UNIPROF_TABLES_CODE_FLOW_H

/*
 * The data flow of one x86-64 function: the state of the stack at each of its
 * instructions. For tables/code/ only.
 */

#include "tables/code/parts.h"
#include "tables/code/state.h"

/* A byte of the function's code. */
struct flow_spot {
	uint32_t phase; /* when its state was first known */
	uint16_t state; /* number; 0: none */
	uint8_t kind;	/* enum flow_kind */
};

enum flow_kind {
	SPOT_UNSEEN,
	SPOT_INSTRUCTION, /* the first byte of an instruction */
	SPOT_SWITCH,	  /* the first byte of an indirect jump within the function */
	SPOT_INSIDE,	  /* a further byte of an instruction */
	SPOT_LATER,	  /* reached so far only if a call returns, or by its address */
	SPOT_PADDING,
};

/* Where a function is entered other than by a call. */
struct flow_entry {
	uint64_t address;
	struct code_state state;
	bool is_guess; /* the state is made from guesses */
	uint32_t from; /* number of the function that jumps to the address */
	bool by_guess; /* the part that jumps was reached by a guess */
};

enum flow_target {
	FLOW_RETURNS, /* or not known */
	FLOW_NEVER_RETURNS,
	FLOW_INTERRUPT, /* a part of the code that returns from interrupts */
};

struct flow {
	/* The function: the caller sets these. @entries are by address, and within it. */
	const uint8_t *code;
	size_t size; /* bytes; not 0 */
	uint64_t address;
	const struct flow_entry *entries;
	size_t entry_count;
	bool is_function; /* not a part of another one: its start is called */

	/*
	 * Called for jumps and calls out of the function, and to its own start, with the
	 * state there. The return value tells what the code there does.
	 */
	enum flow_target (*leave)(void *context, const struct x86_instruction *next,
				  const struct code_state *state, bool is_guess);
	void *context;

	/* The result, besides the spots: */
	bool returns;	       /* to its caller, as far as is known */
	bool is_interrupt;     /* the function returns from an interrupt, at its end or
				* elsewhere */
	bool is_system_return; /* the function ends by returning from a system call */
	bool is_balanced;      /* the function returns with the stack as at its start */
	bool is_out_of_memory;

	/* Reused for the next function. */
	struct flow_spot *spot;
	size_t spot_room;
	struct code_states states;
	struct code_queue next;	 /* reached by jumps */
	struct code_queue later; /* SPOT_LATER, as a heap */
	uint32_t phase;
	bool is_guessing;
	uint32_t *calls; /* by state: the number of calls in it */
	uint16_t body;	 /* the state with the most calls; 0: there are none */
};

/* False if out of memory. */
bool flow_init(struct flow *flow);
void flow_free(struct flow *flow);

/* Finds the states of the function's instructions. */
void flow_run(struct flow *flow);

/* Whether an instruction starts at @offset, and is reached. */
static inline bool flow_is_instruction(const struct flow *flow, size_t offset)
{
	uint8_t kind = flow->spot[offset].kind;

	return kind == SPOT_INSTRUCTION || kind == SPOT_SWITCH;
}

#endif
