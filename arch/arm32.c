/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm32.h"

#include <string.h>

/*
 * Frames of AArch32, which are of several kinds:
 *
 *   kind     made by                            at the frame pointer, in words
 *   GCC      GCC -marm                          -1: caller's frame pointer, 0: return
 *   record   clang                               0: caller's frame pointer, 1: return
 *   APCS     GCC -mapcs-frame                   -3: caller's frame pointer, -2: stack
 *                                               pointer, -1: return, 0: this code
 *   Thumb    GCC -mthumb                        above the function's variables, where its
 *                                               first instructions put them
 *
 * The words tell which of the first three it is; in Thumb code, the code does.
 * The frame pointer is r11, and r7 in Thumb code. A caller of the other instruction set
 * is only followed from the sampled function, as a frame has but one of them. (Seen in
 * what GCC 12 and clang 14 make; APCS: Arm's Procedure Call Standard of 1998, ESPC 0003.)
 */

/* No frame is longer; what seems to be, leads to another stack or is no frame. */
#define FRAME_SIZE_MAX (1u << 20)

enum layout {
	LAYOUT_GCC,
	LAYOUT_RECORD,
	LAYOUT_APCS,
};

/* The words around a frame pointer: word[FRAME] is that at it. */
#define FRAME 3
#define WORDS 5

struct frame {
	uint32_t address;
	uint32_t word[WORDS];
	enum chain_end below; /* why word[FRAME - 1] is missing, else CHAIN_WHOLE */
};

/* Which of x are the banked registers of a mode, CPSR's bits 3 to 0 (Arm ARM, DDI 0487,
 * sections D1.20.1 and G1.9.1); user's for those that a guest can't be in. */
struct bank {
	unsigned int sp, lr, r8;
};

static struct bank bank_of(const struct arm_cpu *cpu)
{
	switch (cpu->cpsr & 0xf) {
	case 1: /* FIQ */
		return (struct bank){29, 30, 24};
	case 2: /* IRQ */
		return (struct bank){17, 16, 8};
	case 3: /* supervisor */
		return (struct bank){19, 18, 8};
	case 7: /* abort */
		return (struct bank){21, 20, 8};
	case 11: /* undefined */
		return (struct bank){23, 22, 8};
	default:
		return (struct bank){13, 14, 8};
	}
}

static uint32_t frame_pointer(const struct arm_cpu *cpu, bool is_thumb)
{
	return (uint32_t)cpu->x[is_thumb ? FP_THUMB : bank_of(cpu).r8 + FP_ARM - 8];
}

static bool leads_up(const struct frame *frame, uint32_t next)
{
	return next > frame->address && next - frame->address <= FRAME_SIZE_MAX &&
	       next % 4 == 0;
}

/* What a caller's frame pointer can be. */
static bool is_next(const struct frame *frame, uint32_t next)
{
	return !next || leads_up(frame, next);
}

/* An APCS frame holds the stack pointer that its function was called with, which is just
 * above it but for arguments that were pushed from registers; and no other pointer up the
 * stack but the caller's. */
static bool is_apcs(const struct frame *frame)
{
	const uint32_t *word = frame->word + FRAME;
	uint32_t pushed = word[-2] - frame->address - 4;

	return pushed <= 16 && pushed % 4 == 0 && is_next(frame, word[-3]) &&
	       !is_next(frame, word[-1]) && !is_next(frame, word[0]);
}

/* The words tell, where one of the two can lead to a next frame and the other has nothing
 * to end a chain with; else the code that the return address would point behind, or the
 * frame before. */
static enum layout choose_layout(struct reader *reader, const struct frame *frame,
				 enum layout last)
{
	const uint32_t *word = frame->word + FRAME;
	bool gcc = leads_up(frame, word[-1]), record = leads_up(frame, word[0]);

	if (is_apcs(frame))
		return LAYOUT_APCS;
	if (gcc && !record && word[0])
		return LAYOUT_GCC;
	if (record && !gcc && word[-1])
		return LAYOUT_RECORD;
	if (arm32_is_after_call(reader, word[0]))
		return LAYOUT_GCC;
	if (arm32_is_after_call(reader, word[1]))
		return LAYOUT_RECORD;
	return last;
}

/* The words below the frame pointer may be missing: a record does without. */
static bool read_frame(struct reader *reader, struct frame *frame)
{
	for (unsigned int i = 0; i < WORDS; i++) {
		uint32_t address = frame->address + (i - FRAME) * 4;
		uint64_t word = UINT32_MAX;

		if (!reader_word(reader, address, 4, &word)) {
			if (i >= FRAME)
				return false;
			if (i == FRAME - 1)
				frame->below = reader->failure;
		}
		frame->word[i] = (uint32_t)word;
	}
	return true;
}

/* Fills in what the frame says of the caller. */
static void take_frame(const struct frame *frame, enum layout layout, uint32_t *next,
		       uint32_t *caller)
{
	const uint32_t *word = frame->word + FRAME;

	switch (layout) {
	case LAYOUT_GCC:
		*next = word[-1];
		*caller = word[0];
		break;
	case LAYOUT_RECORD:
		*next = word[0];
		*caller = word[1];
		break;
	case LAYOUT_APCS:
		*next = word[-3];
		*caller = word[-1];
		break;
	}
}

/* What is followed, and what is known of the next frame. */
struct walk {
	struct reader *reader;
	struct chain *chain;
	uint32_t code;	     /* where its function goes on; bit 0: in Thumb code */
	enum layout layout;  /* ARM: how the frame before was laid out */
	unsigned int budget; /* Thumb: see arm32_find_frame() */
};

static bool read_arm(struct walk *walk, uint32_t address, uint32_t *next,
		     uint32_t *caller)
{
	struct frame frame = {.address = address};

	if (!read_frame(walk->reader, &frame)) {
		walk->chain->end = walk->reader->failure;
		return false;
	}
	walk->layout = choose_layout(walk->reader, &frame, walk->layout);
	take_frame(&frame, walk->layout, next, caller);
	if (walk->layout == LAYOUT_GCC && frame.below != CHAIN_WHOLE) {
		walk->chain->end = frame.below;
		*next = 0;
	}
	return true;
}

/* Reads a word from where the code says it is. */
static bool read_saved(struct reader *reader, uint32_t address, uint32_t *value,
		       struct chain *chain)
{
	uint64_t word;

	if (address % 4) {
		chain->end = CHAIN_UNALIGNED;
		return false;
	}
	if (!reader_word(reader, address, 4, &word)) {
		chain->end = reader->failure;
		return false;
	}
	*value = (uint32_t)word;
	return true;
}

static bool is_noted(const struct code_note *note, const struct walk *walk)
{
	const struct arm_cpu *cpu = walk->reader->cpu;

	return note->address == walk->code && note->ttbr0 == cpu->ttbr0 &&
	       note->ttbr1 == cpu->ttbr1;
}

/* Whether there is a return address at @address. */
static bool returns(struct reader *reader, uint32_t address)
{
	uint64_t word;

	return address % 4 == 0 && reader_word(reader, address, 4, &word) &&
	       arm32_is_after_call(reader, (uint32_t)word);
}

/*
 * Where the frame at @address has what leads on: as the code says, or else as in a
 * record. (A function without a frame of its own looks like the one before it.) False
 * where the code can't be looked at: the chain ends.
 */
static bool locate(struct walk *walk, uint32_t address, struct arm32_frame *frame)
{
	static const struct arm32_frame record = {.next = 0, .caller = 4};
	bool is_sampled = walk->chain->count == 1;

	*frame = record;
	if (!(walk->code & 1))
		return true;
	switch (arm32_find_frame(walk->reader, walk->code & ~1u, is_sampled,
				 &walk->budget, frame)) {
	case SEARCH_FOUND:
		if (!frame->is_leaf && !returns(walk->reader, address + frame->caller) &&
		    returns(walk->reader, address + record.caller))
			*frame = record;
		return true;
	case SEARCH_NONE:
		return true;
	case SEARCH_UNREADABLE:
		walk->chain->end = CHAIN_NO_PAGE;
		return false;
	case SEARCH_STOPPED:
		walk->chain->end = CHAIN_NOT_READY;
		return false;
	}
	return false;
}

/* The same, from the notes if it is there. */
static bool recall(struct walk *walk, uint32_t address, struct arm32_frame *frame)
{
	struct code_notes *notes = walk->reader->memory->notes;
	const struct arm_cpu *cpu = walk->reader->cpu;
	struct code_note *note;

	if (!notes || walk->chain->count == 1)
		return locate(walk, address, frame);
	note = &notes->note[walk->code / 2 % CODE_NOTES];
	if (is_noted(note, walk)) {
		*frame = (struct arm32_frame){.next = note->next, .caller = note->caller};
		return true;
	}
	if (!locate(walk, address, frame))
		return false;
	*note = (struct code_note){cpu->ttbr0, cpu->ttbr1, walk->code, frame->next,
				   frame->caller};
	return true;
}

static bool read_thumb(struct walk *walk, uint32_t address, uint32_t *next,
		       uint32_t *caller)
{
	const struct arm_cpu *cpu = walk->reader->cpu;
	struct arm32_frame frame;

	if (!recall(walk, address, &frame) ||
	    !read_saved(walk->reader, address + frame.next, next, walk->chain))
		return false;
	if (!frame.is_leaf)
		return read_saved(walk->reader, address + frame.caller, caller,
				  walk->chain);
	*caller = (uint32_t)cpu->x[bank_of(cpu).lr];
	walk->chain->frameless = *caller & ~1u;
	return true;
}

/* @read() finds the caller of a frame's function, and its frame. Constant where this is
 * called. */
static inline void follow(struct walk *walk, uint32_t address,
			  bool (*read)(struct walk *walk, uint32_t address,
				       uint32_t *next, uint32_t *caller))
{
	struct chain *chain = walk->chain;

	for (chain->end = CHAIN_WHOLE; address;) {
		uint32_t next = 0, caller = 0;

		if (chain->count >= CHAIN_MAX) {
			chain->end = CHAIN_TOO_DEEP;
			return;
		}
		if (address % 4) {
			chain->end = CHAIN_UNALIGNED;
			return;
		}
		if (!read(walk, address, &next, &caller))
			return;
		walk->code = caller;
		if (!(caller & ~1u)) {
			chain->end = CHAIN_WHOLE;
			return;
		}
		chain->address[chain->count++] = caller & ~1u;
		if (next && next <= address) {
			chain->end = CHAIN_NOT_ASCENDING;
			return;
		}
		address = next;
	}
}

/*
 * Adds the sampled function's caller where the code on the way out of the function says
 * where it is, and makes walk->code, *@frame and *@is_thumb the caller's. False where the
 * chain ends.
 */
static bool leave(struct walk *walk, uint32_t *frame, bool *is_thumb)
{
	const struct arm_cpu *cpu = walk->reader->cpu;
	struct chain *chain = walk->chain;
	uint32_t caller = (uint32_t)cpu->x[bank_of(cpu).lr];
	struct arm32_exit exit = arm32_leave(walk->reader,
					     walk->code & ~(uint32_t)*is_thumb, *is_thumb,
					     (uint32_t)cpu->x[bank_of(cpu).sp], *frame);

	if (exit.kind == EXIT_STACK &&
	    !read_saved(walk->reader, exit.caller, &caller, chain))
		return false;
	if (exit.kind == EXIT_UNKNOWN || !(caller & ~1u))
		return exit.kind != EXIT_STACK;
	walk->code = caller;
	chain->address[chain->count++] = caller & ~1u;
	chain->frameless = exit.kind == EXIT_LINK;
	*is_thumb = caller & 1;
	*frame = frame_pointer(cpu, *is_thumb);
	if (!exit.has_saved[*is_thumb])
		return true;
	if (!read_saved(walk->reader, exit.saved[*is_thumb], frame, chain))
		return false;
	if (*frame && *frame <= exit.saved[*is_thumb]) {
		chain->end = CHAIN_NOT_ASCENDING;
		return false;
	}
	return true;
}

void arm32_unwind(struct reader *reader, struct chain *chain)
{
	const struct arm_cpu *cpu = reader->cpu;
	bool is_thumb = cpu->cpsr & ARM_CPSR_THUMB;
	uint32_t frame = frame_pointer(cpu, is_thumb);
	const struct code_notes *notes = reader->memory->notes;
	struct walk walk = {
		.reader = reader,
		.chain = chain,
		.code = (uint32_t)cpu->pc | is_thumb,
		.layout = LAYOUT_GCC,
		.budget = notes ? notes->budget : CODE_BUDGET_MAX,
	};

	chain->end = CHAIN_WHOLE;
	if (!leave(&walk, &frame, &is_thumb))
		return;
	if (is_thumb)
		follow(&walk, frame, read_thumb);
	else
		follow(&walk, frame, read_arm);
}

size_t arm32_registers(const struct arm_cpu *cpu, struct register_value *values)
{
	static const char *const names[] = {"r0", "r1", "r2", "r3",  "r4",  "r5", "r6",
					    "r7", "r8", "r9", "r10", "r11", "r12"};
	const struct bank bank = bank_of(cpu);
	const struct register_value others[] = {
		{"sp", cpu->x[bank.sp]}, {"lr", cpu->x[bank.lr]}, {"pc", cpu->pc},
		{"cpsr", cpu->cpsr},	 {"sctlr", cpu->sctlr},	  {"ttbcr", cpu->tcr},
		{"ttbr0", cpu->ttbr0},	 {"ttbr1", cpu->ttbr1},
	};
	size_t count = 0;

	for (; count < sizeof(names) / sizeof(names[0]); count++)
		values[count] = (struct register_value){
			names[count], cpu->x[count < 8 ? count : bank.r8 + count - 8]};
	memcpy(values + count, others, sizeof(others));
	return count + sizeof(others) / sizeof(others[0]);
}
