/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/table/code.h"

#include <stdlib.h>

#include "arch/arch.h"
#include "arch/x86_code.h"

/* Compilers align functions to this. */
#define ALIGNMENT 16

/* What is known about a byte of the code. */
enum {
	IS_INSTRUCTION = 1, /* one starts here */
	IS_CALLED = 2,	    /* directly */
	IS_BEHIND = 4,	    /* aligned, behind padding that nothing runs into */
	IS_AFTER = 8,	    /* nothing, or only the return of a call, may run into it */
	IS_ENTERED = 16,    /* by a jump from another called function */
	IS_SMALL = 32,	    /* like IS_BEHIND, without alignment, but with a prologue */
	IS_TARGET = 64,	    /* of a jump */
};

struct finder {
	const struct unwind_code *code;
	uint8_t *mark;	 /* for each byte */
	int32_t *across; /* for each byte: jumps across the place before it, as
			    differences */
	uint32_t *due;	 /* offsets where to decode */
	size_t dues;
};

static bool is_inside(const struct unwind_code *code, uint64_t address)
{
	return address - code->address < code->size;
}

static struct x86_instruction decode(const struct finder *finder, size_t at)
{
	const struct unwind_code *code = finder->code;

	return x86_decode(code->bytes + at, code->size - at, code->address + at, true);
}

/* nop, int3, and nop with operands (0f 1f), all with prefixes. */
static bool is_padding(const uint8_t *code, size_t size)
{
	while (size > 1 && (*code == 0x66 || *code == 0x2e)) {
		code++;
		size--;
	}
	return *code == 0x90 || *code == 0xcc ||
	       (size > 2 && code[0] == 0x0f && code[1] == 0x1f);
}

static bool ends_flow(enum x86_act act)
{
	return act == X86_JUMP || act == X86_JUMP_INDIRECT || act == X86_RETURN ||
	       act == X86_RETURN_FAR || act == X86_STOP;
}

/* Whether functions start with it that use the stack. */
static bool is_prologue(const struct x86_instruction *first)
{
	return first->act == X86_PUSH ||
	       (first->act == X86_ADD && first->to == X86_RSP && first->offset < 0);
}

static void note_call(struct finder *finder, uint64_t target)
{
	size_t to = target - finder->code->address;

	if (!is_inside(finder->code, target))
		return;
	if (!(finder->mark[to] & IS_CALLED))
		finder->due[finder->dues++] = (uint32_t)to;
	finder->mark[to] |= IS_CALLED;
}

/* Decodes from @at on, up to what was decoded before; behind what is no code, from the
 * next aligned place. A call may be the end of a function, because the called one may not
 * return.
 */
static void sweep(struct finder *finder, size_t at)
{
	const struct unwind_code *code = finder->code;
	bool is_end = false, is_call = false, is_padded = false;

	while (at < code->size && !(finder->mark[at] & IS_INSTRUCTION)) {
		struct x86_instruction next = decode(finder, at);

		finder->mark[at] |= IS_INSTRUCTION;
		if (next.act == X86_BAD) {
			at += ALIGNMENT - (code->address + at) % ALIGNMENT;
			is_end = true;
			continue;
		}
		if ((is_end || is_call) && is_padding(code->bytes + at, next.size)) {
			is_padded = true;
			at += next.size;
			continue;
		}
		if (is_end || is_call)
			finder->mark[at] |= IS_AFTER;
		if ((is_end || (is_call && (is_padded || is_prologue(&next)))) &&
		    (code->address + at) % ALIGNMENT == 0)
			finder->mark[at] |= IS_BEHIND;
		else if (is_end && is_prologue(&next))
			finder->mark[at] |= IS_SMALL;
		is_call = next.act == X86_CALL || next.act == X86_CALL_INDIRECT;
		is_end = ends_flow(next.act);
		is_padded = false;
		at += next.size;
		if (next.act == X86_CALL && next.target != code->address + at)
			note_call(finder, next.target);
	}
}

/* The end of the function that is known to start at or before @at: the next called place.
 */
static size_t next_called(const struct finder *finder, size_t at)
{
	do
		at++;
	while (at < finder->code->size && !(finder->mark[at] & IS_CALLED));
	return at;
}

/* Counts the jumps across places between two called ones: a function has jumps across the
 * padding in it. Others lead from function to function. */
static void count_jumps(struct finder *finder, size_t start, size_t end)
{
	for (size_t at = start; at < end; at++) {
		struct x86_instruction next;
		size_t from, to;

		if (!(finder->mark[at] & IS_INSTRUCTION))
			continue;
		next = decode(finder, at);
		if ((next.act != X86_JUMP && next.act != X86_JUMP_IF) ||
		    !is_inside(finder->code, next.target))
			continue;
		to = next.target - finder->code->address;
		finder->mark[to] |= IS_TARGET;
		if (to < start || to >= end) {
			finder->mark[to] |= IS_ENTERED;
			continue;
		}
		/* A call at the end of a function. */
		if (next.act == X86_JUMP && (finder->mark[to] & IS_BEHIND))
			continue;
		from = at < to ? at + 1 : to;
		to = at < to ? to : at;
		finder->across[from]++;
		finder->across[to + 1]--;
	}
}

static bool is_start(uint8_t mark, int32_t across)
{
	const uint8_t part = IS_AFTER | IS_ENTERED;

	if (!(mark & IS_INSTRUCTION) || (mark & IS_CALLED) || across)
		return mark & IS_CALLED;
	return (mark & IS_BEHIND) || (mark & part) == part ||
	       (mark & (IS_SMALL | IS_TARGET)) == IS_SMALL;
}

static size_t list_functions(const struct finder *finder, struct unwind_function *list)
{
	const struct unwind_code *code = finder->code;
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

int unwind_find_functions(struct unwind_code *code, const uint64_t *known, size_t count)
{
	struct finder finder = {
		.code = code,
		.mark = calloc(code->size + 1, sizeof(*finder.mark)),
		.across = calloc(code->size + 2, sizeof(*finder.across)),
		.due = calloc(code->size + 1, sizeof(*finder.due)),
	};
	struct unwind_function *list = NULL;

	if (!finder.mark || !finder.across || !finder.due)
		goto out;
	for (size_t i = 0; i < count; i++) {
		if (is_inside(code, known[i]))
			sweep(&finder, known[i] - code->address);
		while (finder.dues)
			sweep(&finder, finder.due[--finder.dues]);
	}
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
