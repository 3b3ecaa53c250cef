/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "arch/flow.h"
#include "tables/code/find.h"

/* Marks of a byte of the code, as bits. */
enum {
	IS_INSTRUCTION = 1, /* one starts here */
	IS_CALLED = 2,	    /* directly */
	IS_DOUBTFUL = 4,    /* called once, perhaps by data */
	IS_PART = 8,	    /* as judged: FIND_PART, or more than that */
	IS_FREE = 16,	    /* FIND_START */
	IS_ENTERED = 32,    /* by a jump from another called function */
};

struct finder {
	const struct machine_code *code;
	const struct find_cpu *cpu;
	uint8_t *mark;	 /* for each byte */
	int32_t *across; /* for each byte: jumps across the place before it, as
			    differences */
	uint32_t *due;	 /* offsets where to decode */
	size_t dues;
};

static bool is_inside(const struct machine_code *code, uint64_t address)
{
	return address - code->address < code->size;
}

static struct flow_instruction instruction_at(const struct machine_code *code, size_t at)
{
	return flow_decode(code->is_arm64, code->bytes + at, code->size - at,
			   code->address + at);
}

static enum find_start judge_start(const struct finder *finder, size_t at,
				   struct find_before before)
{
	return finder->cpu->judge(finder->code, at, before);
}

/* Data that looks like a call rarely leads to a function's start, or twice to one place.
 */
static void note_call(struct finder *finder, uint64_t target)
{
	size_t to = target - finder->code->address;
	uint8_t *mark;

	if (!target || !is_inside(finder->code, target))
		return;
	mark = &finder->mark[to];
	if (*mark & IS_CALLED)
		return;
	if (!(*mark & IS_DOUBTFUL) &&
	    judge_start(finder, to, (struct find_before){false}) == FIND_NO_START) {
		*mark |= IS_DOUBTFUL;
		return;
	}
	*mark |= IS_CALLED;
	finder->due[finder->dues++] = (uint32_t)to;
}

/* Whether a function may start behind the instruction. */
static bool is_boundary(struct find_before before)
{
	return before.is_end || before.is_call;
}

/* Marks the kind of start that @at is, behind @before. */
static void note_place(struct finder *finder, size_t at, struct find_before before)
{
	enum find_start start = is_boundary(before) ? judge_start(finder, at, before)
						    : FIND_NO_START;

	if (start != FIND_NO_START)
		finder->mark[at] |= IS_PART;
	if (start == FIND_START)
		finder->mark[at] |= IS_FREE;
}

static bool ends_flow(enum flow flow)
{
	return flow == FLOW_JUMP || flow == FLOW_JUMP_INDIRECT || flow == FLOW_RETURN ||
	       flow == FLOW_RETURN_FAR || flow == FLOW_STOP;
}

/* Whether there are zeros, as between sections and between functions' data; no compiler
 * uses the instruction that zeros encode. */
static bool is_empty(const struct machine_code *code, size_t at)
{
	static const uint8_t zeros[4];

	return code->size - at >= sizeof(zeros) &&
	       !memcmp(code->bytes + at, zeros, sizeof(zeros));
}

/*
 * Decodes from @at on, up to @end or to code that was decoded earlier; behind bytes that
 * are no code, from the next aligned place. A call may be the end of a function, because
 * the called function may not return; so may a halt. @is_code: false if it may be data,
 * whose calls do not count.
 */
static void sweep(struct finder *finder, size_t at, size_t end, bool is_code)
{
	const struct machine_code *code = finder->code;
	struct find_before before = {.is_end = at == 0 && code->is_first};

	while (at < end && !(finder->mark[at] & IS_INSTRUCTION)) {
		const struct flow_instruction next = instruction_at(code, at);

		if (next.size > end - at)
			return;
		finder->mark[at] |= IS_INSTRUCTION;
		if (next.flow == FLOW_BAD || is_empty(code, at)) {
			at += FIND_ALIGNMENT - (code->address + at) % FIND_ALIGNMENT;
			before = (struct find_before){.is_end = true};
			continue;
		}
		if (is_boundary(before) && finder->cpu->is_padding(code, at, next.size)) {
			before.is_padded = true;
			at += next.size;
			continue;
		}
		note_place(finder, at, before);
		before = (struct find_before){
			.is_end = ends_flow(next.flow),
			.is_call = next.flow == FLOW_CALL ||
				   next.flow == FLOW_CALL_INDIRECT ||
				   next.flow == FLOW_HALT,
		};
		at += next.size;
		if (!is_code)
			continue;
		if (next.flow == FLOW_CALL && next.target != code->address + at)
			note_call(finder, next.target);
		note_call(finder, finder->cpu->constant(code, at - next.size, next.size));
	}
	if (at < code->size && instruction_at(code, at).flow != FLOW_BAD)
		note_place(finder, at, before);
}

/* Decodes code before all known instructions, where functions to which nothing leads may
 * be: compilers move main there. */
static void sweep_start(struct finder *finder)
{
	size_t end = 0;

	while (end < finder->code->size && !(finder->mark[end] & IS_INSTRUCTION))
		end++;
	sweep(finder, 0, end, false);
}

/* Finds the end of the function that starts at or before @at: the next called place. */
static size_t next_called(const struct finder *finder, size_t at)
{
	do
		at++;
	while (at < finder->code->size && !(finder->mark[at] & IS_CALLED));
	return at;
}

/* Counts the jumps across places between two called ones: jumps across padding show that
 * it is within a function. Other jumps lead from function to function. */
static void count_jumps(struct finder *finder, size_t start, size_t end)
{
	for (size_t at = start; at < end; at++) {
		struct flow_instruction next;
		size_t from, to;

		if (!(finder->mark[at] & IS_INSTRUCTION))
			continue;
		next = instruction_at(finder->code, at);
		if ((next.flow != FLOW_JUMP && next.flow != FLOW_JUMP_IF) ||
		    !is_inside(finder->code, next.target))
			continue;
		to = next.target - finder->code->address;
		if (to < start || to >= end) {
			finder->mark[to] |= IS_ENTERED;
			continue;
		}
		/* A call at the end of a function. */
		if (next.flow == FLOW_JUMP && (finder->mark[to] & IS_FREE))
			continue;
		from = at < to ? at + 1 : to;
		to = at < to ? to : at;
		finder->across[from]++;
		finder->across[to + 1]--;
	}
}

static bool is_start(uint8_t mark, int32_t across)
{
	const uint8_t part = IS_PART | IS_ENTERED;

	if (!(mark & IS_INSTRUCTION) || (mark & IS_CALLED) || across)
		return mark & IS_CALLED;
	return (mark & IS_FREE) || (mark & part) == part;
}

static size_t list_functions(const struct finder *finder, struct code_function *list)
{
	const struct machine_code *code = finder->code;
	int32_t across = 0;
	size_t count = 0;

	for (size_t at = 0; at < code->size; at++) {
		uint8_t mark = finder->mark[at];

		across += finder->across[at];
		if (!is_start(mark, across))
			continue;
		if (list)
			list[count].start = code->address + at;
		count++;
	}
	return count;
}

int code_find_functions(struct machine_code *code, const uint64_t *known, size_t count)
{
	struct finder finder = {
		.code = code,
		.cpu = code->is_arm64 ? &find_arm64 : &find_x86,
		.mark = calloc(code->size + 1, sizeof(*finder.mark)),
		.across = calloc(code->size + 2, sizeof(*finder.across)),
		.due = calloc(code->size + 1, sizeof(*finder.due)),
	};
	struct code_function *list = NULL;

	if (!finder.mark || !finder.across || !finder.due)
		goto out;
	for (size_t i = 0; i < count; i++) {
		if (is_inside(code, known[i]))
			sweep(&finder, known[i] - code->address, code->size, true);
		while (finder.dues)
			sweep(&finder, finder.due[--finder.dues], code->size, true);
	}
	sweep_start(&finder);
	for (size_t at = 0, end; at < code->size; at = end) {
		end = next_called(&finder, at);
		count_jumps(&finder, at, end);
	}
	count = list_functions(&finder, NULL);
	list = calloc(count + 1, sizeof(*list));
	if (list) {
		list_functions(&finder, list);
		code->functions = list;
		code->count = count;
	}
out:
	free(finder.mark);
	free(finder.across);
	free(finder.due);
	return list ? 0 : -1;
}
