/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm.h"

#include <string.h>

/*
 * Frames of AArch32, which are of several kinds:
 *
 *   kind     made by                            at the frame pointer, in words
 *   GCC      GCC -marm                          -1: caller's frame pointer, 0: return
 *   record   clang; both for Thumb (r7)          0: caller's frame pointer, 1: return
 *   APCS     GCC -mapcs-frame                   -3: caller's frame pointer, -2: stack
 *                                               pointer, -1: return, 0: this code
 *
 * The frame pointer is r11, and r7 in Thumb code. A caller of the other instruction set
 * is only followed from the sampled function, as a frame has but one of them. GCC's
 * frames for Thumb are records where r7 and lr alone are saved and there are no
 * variables on the stack; where the others lie, only unwind tables say. (Seen in what
 * GCC 12 and clang 14 make; APCS: Arm's Procedure Call Standard of 1998, ESPC 0003.)
 */

#define FP_ARM	 11
#define FP_THUMB 7

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

static void walk(struct reader *reader, uint32_t address, bool is_thumb,
		 struct chain *chain)
{
	enum layout layout = is_thumb ? LAYOUT_RECORD : LAYOUT_GCC;

	for (chain->end = CHAIN_WHOLE; address;) {
		struct frame frame = {.address = address};
		uint32_t next, caller;

		if (chain->count >= CHAIN_MAX) {
			chain->end = CHAIN_TOO_DEEP;
			return;
		}
		if (address % 4) {
			chain->end = CHAIN_UNALIGNED;
			return;
		}
		if (!read_frame(reader, &frame)) {
			chain->end = reader->failure;
			return;
		}
		if (!is_thumb)
			layout = choose_layout(reader, &frame, layout);
		take_frame(&frame, layout, &next, &caller);
		if (!(caller & ~1u))
			return;
		chain->address[chain->count++] = caller & ~1u;
		if (layout == LAYOUT_GCC && frame.below != CHAIN_WHOLE) {
			chain->end = frame.below;
			return;
		}
		if (next && next <= address) {
			chain->end = CHAIN_NOT_ASCENDING;
			return;
		}
		address = next;
	}
}

/* Only GCC's functions that call none have such frames. */
static bool leave_frame(struct reader *reader, unsigned int slot, uint32_t *frame,
			struct chain *chain)
{
	uint32_t address = *frame + slot;
	uint64_t next;

	if (address % 4)
		chain->end = CHAIN_UNALIGNED;
	else if (!reader_word(reader, address, 4, &next))
		chain->end = reader->failure;
	else if (next && next <= *frame)
		chain->end = CHAIN_NOT_ASCENDING;
	else {
		*frame = (uint32_t)next;
		return true;
	}
	return false;
}

void arm32_unwind(struct reader *reader, struct chain *chain)
{
	const struct arm_cpu *cpu = reader->cpu;
	bool is_thumb = cpu->cpsr & ARM_CPSR_THUMB;
	uint32_t caller = (uint32_t)cpu->x[bank_of(cpu).lr];
	uint32_t frame = frame_pointer(cpu, is_thumb);
	struct arm32_link link = {0};

	if (caller & ~1u)
		link = arm32_link(reader, (uint32_t)cpu->pc, is_thumb);
	if (link.is_live) {
		chain->address[chain->count++] = caller & ~1u;
		chain->frameless = true;
		if (link.has_frame && !leave_frame(reader, link.slot, &frame, chain))
			return;
		if (!link.has_frame) {
			is_thumb = caller & 1;
			frame = frame_pointer(cpu, is_thumb);
		}
	}
	walk(reader, frame, is_thumb, chain);
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
