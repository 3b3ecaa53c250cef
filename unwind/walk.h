/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_WALK_H
#define UNIPROF_UNWIND_WALK_H

#include "unwind/reader.h"
#include "unwind/returns.h"
#include "unwind/table.h"
#include "unwind/unwind.h"

/*
 * A walk moves from each frame to its caller's, until it can't continue. Rules implement
 * the steps. For unwind/ only. The code that runs for each frame of a paused guest is in
 * this header, so that it is inlined with constant arguments.
 */

/* For code that must be compiled for each word size by itself. */
#define WALK_INLINE static inline __attribute__((always_inline))

/* The known registers of a function on the stack. */
struct frame_state {
	uint64_t pc; /* sampled address, or return address of the function's call */
	uint64_t sp; /* the stack pointer at pc; 0: not known */
	uint64_t fp; /* the frame pointer register; 0: this is the outermost frame,
		      * unless the table has a rule for it */
	uint64_t lr; /* ARM, RISC-V: the link register, known in the sampled function only
		      */
	uint64_t floor;	 /* with a table or entries: callers' frames are from here on */
	bool is_sampled; /* the sampled function, not one that made a call */
	bool is_stopped; /* interrupted or sampled, not at a call */
	bool fp_is_lost; /* the frame pointer is not known */
	bool by_code;	 /* x86: the caller of a stopped function without a frame */
	bool is_thumb;	 /* 32-bit ARM: pc is in Thumb code */
	bool is_narrow;	 /* x86: 32-bit code that a 64-bit kernel has stopped */
};

struct walk {
	struct reader reader;
	struct chain *chain;
	const struct unwind_table *table; /* NULL: none for this kind of code */
	/* NULL: none. */
	const struct unwind_table *hypercalls, *kernel, *modules, *found;
	const struct return_notes *returns;
	uint64_t space;	    /* the vCPU's address space */
	bool is_found_here; /* the guesses for programs are for this address space */
	bool has_rules;	    /* some table has rules for this kind of code */
	uint64_t serial;    /* of the tables */
	struct rule_note *rule_notes; /* NULL: none */
	const uint64_t *registers;    /* with a table: the vCPU's general registers */
	unsigned int register_count;
	unsigned int exits; /* x86: functions whose code was examined */
	bool has_floor;	    /* rules other than the one for records apply */
	struct frame_state state;
};

/* The result of a rule. */
enum step {
	STEP_NONE,   /* does not apply; the state is unchanged, try other rules */
	STEP_CALLER, /* the state is now the caller's */
	STEP_LAST,   /* the state is the caller's, but the walk ends there: see chain->end
		      */
	STEP_END,    /* there is no caller, or it is not known: see chain->end */
};

static inline enum step walk_end(struct walk *walk, enum chain_end end)
{
	walk->chain->end = end;
	return STEP_END;
}

/* Sets the state to the caller's, from the contents of the frame at @frame. The caller's
 * frame is at @next, which is 0 for the outermost one. */
static inline enum step walk_to_caller(struct walk *walk, uint64_t frame, uint64_t next,
				       uint64_t caller, uint64_t sp)
{
	struct frame_state *state = &walk->state;

	state->pc = caller;
	state->sp = sp;
	state->fp = next;
	state->is_sampled = state->is_stopped = state->by_code = false;
	state->fp_is_lost = false;
	if (!next || next > frame)
		return STEP_CALLER;
	/* Code with rules in the table may use the frame pointer for something else, and
	 * code that an interrupt stopped has another stack. */
	if (walk->has_floor)
		return STEP_CALLER;
	walk->chain->end = CHAIN_NOT_ASCENDING;
	return STEP_LAST;
}

/*
 * Applies the rule for records: the frame pointer points @below bytes above the caller's
 * frame pointer, which is 0 in the outermost frame, and the return address is above the
 * caller's frame pointer. Words have @size bytes; @clean() strips bits that are not part
 * of the address. @has_sp: after the return, the stack pointer is just above the record.
 */
WALK_INLINE enum step record_rule(struct walk *walk, unsigned int size,
				  unsigned int below, bool has_sp,
				  uint64_t (*clean)(const void *cpu, uint64_t address))
{
	uint64_t frame = walk->state.fp, record = frame - below, next, caller;

	if (walk->state.fp_is_lost || (frame && frame < walk->state.floor))
		return walk_end(walk, CHAIN_NOT_ASCENDING);
	if (!frame)
		return walk_end(walk, CHAIN_UNKNOWN);
	if (frame % size)
		return walk_end(walk, CHAIN_UNALIGNED);
	if (!reader_word(&walk->reader, record, size, &next) ||
	    !reader_word(&walk->reader, record + size, size, &caller))
		return walk_end(walk, walk->reader.failure);
	caller = clean(walk->reader.cpu, caller);
	if (!caller)
		return walk_end(walk, CHAIN_UNKNOWN);
	if (walk->has_floor)
		walk->state.floor = record + 2 * size;
	return walk_to_caller(walk, frame, next, caller, has_sp ? record + 2 * size : 0);
}

/* Gives the table priority from here on. The state has the sampled stack pointer. */
static inline void walk_use_table(struct walk *walk, const uint64_t *registers,
				  unsigned int count, uint64_t space)
{
	const struct unwind_input *input = walk->reader.input;

	walk->table = unwind_table_in(input, space);
	walk->rule_notes = input->notes ? input->notes->rule : NULL;
	walk->hypercalls = input->hypercalls;
	walk->kernel = input->kernel;
	walk->modules = input->modules;
	walk->found = input->found;
	walk->returns = input->returns;
	walk->serial = walk->table ? unwind_table_serial(walk->table) : 0;
	walk->serial ^= walk->hypercalls ? unwind_table_serial(walk->hypercalls) : 0;
	walk->serial ^= walk->kernel ? unwind_table_serial(walk->kernel) : 0;
	walk->serial ^= walk->modules ? unwind_table_serial(walk->modules) : 0;
	walk->space = space;
	walk->is_found_here = walk->found && input->found_space == space;
	if (walk->found)
		walk->serial ^= unwind_table_serial(walk->found) + !walk->is_found_here;
	walk->registers = registers;
	walk->register_count = count;
	walk->has_rules = walk->table || walk->kernel || walk->modules || walk->found;
	walk->has_floor = walk->has_rules;
	walk->state.floor = walk->has_rules ? walk->state.sp : 0;
}

/* Continues a walk at CHAIN_MAX addresses. */
void walk_deeper(struct walk *walk, enum step (*step)(struct walk *walk));

/* Adds callers to the chain as long as @step() finds any. */
static inline void walk_follow(struct walk *walk, enum step (*step)(struct walk *walk))
{
	struct chain *chain = walk->chain;
	enum step taken;

	do {
		if (chain->count == CHAIN_MAX) {
			walk_deeper(walk, step);
			return;
		}
		taken = step(walk);
		if (taken == STEP_CALLER || taken == STEP_LAST)
			chain->address[chain->count++] = walk->state.pc;
	} while (taken == STEP_CALLER);
}

/* Maximum number of instructions examined, and of jumps followed, to find how the sampled
 * function returns: before and after each jump, they extend into at most one more page.
 */
#define CODE_STEPS 256
#define CODE_JUMPS (UNWIND_CODE_PAGES_MAX / 2 - 1)

/* Continue from the sampled address, which is already in the chain. */
void arm64_walk(struct walk *walk);
void arm32_walk(const struct walk *start);

#endif
