/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/links.h"

#include <elf.h>

#include "arch/flow.h"

/* Limits of a search along tail jumps: number of functions, and of instructions in all
 * functions together */
#define FUNCTIONS_MAX	 32
#define INSTRUCTIONS_MAX 4000

struct search {
	const struct program *program;
	const struct program_function *callee;
	uint64_t start[FUNCTIONS_MAX]; /* starts of the functions to examine */
	unsigned int found, done;
	unsigned int instructions;
	bool is_vague; /* a jump could not be followed */
};

static const struct program_function *find_function(const struct program *program,
						    uint64_t address)
{
	const struct program_function *list = program->functions;
	size_t from = 0, to = program->function_count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (list[middle].start <= address)
			from = middle + 1;
		else
			to = middle;
	}
	return from && address < list[from - 1].end ? &list[from - 1] : NULL;
}

/* Returns the range of code that contains the byte at @address; NULL if there is none. */
static const struct code_range *find_code(const struct program *program, uint64_t address)
{
	for (size_t i = 0; i < program->code_count; i++)
		if (address - program->code[i].address < program->code[i].size)
			return &program->code[i];
	return NULL;
}

/* Adds a jump's target to the search. True if it is in the callee. */
static bool search_reach(struct search *search, uint64_t target)
{
	const struct program_function *function = find_function(search->program, target);
	uint64_t start = function ? function->start : target;

	if (function == search->callee)
		return true;
	for (unsigned int i = 0; i < search->found; i++)
		if (search->start[i] == start)
			return false;
	if (search->found == FUNCTIONS_MAX)
		search->is_vague = true;
	else
		search->start[search->found++] = start;
	return false;
}

static struct flow_instruction decode_at(const struct program *program,
					 const struct code_range *code, uint64_t at,
					 uint64_t end)
{
	return flow_decode(program->machine == EM_AARCH64,
			   code->bytes + (at - code->address), (size_t)(end - at), at);
}

static bool is_jump(enum flow flow)
{
	return flow == FLOW_JUMP || flow == FLOW_JUMP_IF;
}

/* Looks for jumps out of the function at @start. Code without a symbol, such as a PLT
 * entry, is read up to its first jump. True if a jump leads to the callee. */
static bool search_follow(struct search *search, uint64_t start)
{
	const struct program_function *function = find_function(search->program, start);
	const struct code_range *code = find_code(search->program, start);
	uint64_t end, at = start;

	if (!code) {
		search->is_vague = true;
		return false;
	}
	end = code->address + code->size;
	if (function && function->end < end)
		end = function->end;
	while (at < end) {
		struct flow_instruction instruction = decode_at(search->program, code, at,
								end);

		if (instruction.flow == FLOW_BAD ||
		    ++search->instructions > INSTRUCTIONS_MAX) {
			search->is_vague = true;
			return false;
		}
		at += instruction.size;
		/* A function that ends with a call does not return. Code that it calls,
		 * and that restores registers, such as Nanos' syscall_return, is often
		 * unwound by its caller's frame pointer. */
		if (instruction.flow == FLOW_JUMP_INDIRECT ||
		    (instruction.flow == FLOW_CALL_INDIRECT && at == end))
			search->is_vague = true;
		if (is_jump(instruction.flow) &&
		    (instruction.target < start || instruction.target >= end) &&
		    search_reach(search, instruction.target))
			return true;
		if (!function &&
		    (instruction.flow == FLOW_JUMP_INDIRECT ||
		     instruction.flow == FLOW_JUMP || instruction.flow == FLOW_RETURN))
			return false;
	}
	return false;
}

/* Returns whether the function returns from an interrupt, so that any code can be its
 * caller. */
static bool is_handler(const struct program *program,
		       const struct program_function *function)
{
	const struct code_range *code = find_code(program, function->start);
	uint64_t at = function->start, end;

	if (!code)
		return false;
	end = code->address + code->size;
	if (function->end < end)
		end = function->end;
	for (unsigned int i = 0; at < end && i < INSTRUCTIONS_MAX; i++) {
		struct flow_instruction instruction = decode_at(program, code, at, end);

		if (instruction.flow == FLOW_BAD)
			return false;
		if (instruction.flow == FLOW_RETURN_FAR)
			return true;
		at += instruction.size;
	}
	return false;
}

enum program_link program_check_link(const struct program *program, uint64_t caller,
				     uint64_t callee)
{
	uint64_t after = caller - program->offset, target;
	const struct code_range *code = find_code(program, after - 1);
	struct search search = {.program = program};
	const uint8_t *end;

	search.callee = find_function(program, callee - program->offset);
	if (!cpu_kind_has_tables(cpu_kind_of_elf(program->machine)) || !code ||
	    !search.callee)
		return LINK_UNKNOWN;
	end = code->bytes + (after - code->address);
	if (!flow_call_before(program->machine == EM_AARCH64, end,
			      (size_t)(after - code->address), after, &target))
		return is_handler(program, search.callee) ? LINK_POSSIBLE
							  : LINK_IMPOSSIBLE;
	if (!target || search_reach(&search, target))
		return target ? LINK_PROVEN : LINK_POSSIBLE;
	while (search.done < search.found)
		if (search_follow(&search, search.start[search.done++]))
			return LINK_PROVEN;
	return search.is_vague ? LINK_POSSIBLE : LINK_IMPOSSIBLE;
}
