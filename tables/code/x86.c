/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/code.h"

#include <stdlib.h>
#include <string.h>

#include "arch/x86/cpu.h"
#include "base/array.h"
#include "tables/code/flow.h"

/*
 * Functions depend on each other: code after the call of a function that does not return
 * is not reached from there, and a part of a function that the compiler moved away has
 * the stack of the function that jumps to it. So functions are examined again when more
 * is known of the functions they depend on; in a last pass, rules are made.
 */

/* Maximum number of passes; real programs need 3 to 5. */
#define PASSES_MAX 8

/* Instructions at a program's start before the first call. */
#define START_MAX 32

struct function {
	uint64_t start;
	uint32_t size;
	uint8_t part;	  /* enum code_part */
	bool is_called;	  /* at its start */
	bool is_entered;  /* at its start, by jumps from other functions */
	bool is_balanced; /* returns with the stack as at its start */
	bool never_returns;
	bool is_interrupt;
	bool is_due;	  /* to be examined again */
	bool is_examined; /* by the present pass */
	bool is_changed;  /* functions that depend on it are due */
};

/* A function calls or jumps to another one. */
struct edge {
	uint32_t to, from;
	bool is_jump;
};

struct analysis {
	const struct machine_code *code;
	struct flow flow;
	struct function *function;
	size_t count;
	size_t current; /* number of the function */
	struct edge *edge;
	size_t edges, edge_room;
	bool has_edges;		  /* all are known */
	struct flow_entry *entry; /* by address; entries that are no guess come first */
	size_t entries;
	struct flow_entry *added; /* by the present pass */
	size_t added_count, added_room;
	bool is_out_of_memory;
};

/* The first instruction of functions that are called indirectly, with CET: endbr64. */
static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};

static bool starts_with_endbr(const uint8_t *code, size_t size)
{
	return size >= sizeof(endbr) && memcmp(code, endbr, sizeof(endbr)) == 0;
}

/* The first of the entries at or after @address. */
static size_t find_entry(const struct analysis *analysis, uint64_t address)
{
	size_t from = 0, to = analysis->entries;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (analysis->entry[middle].address < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* The function that contains @address; its number, or -1. */
static ptrdiff_t find_function(const struct analysis *analysis, uint64_t address)
{
	size_t from = 0, to = analysis->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (analysis->function[middle].start <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || address - analysis->function[from - 1].start >=
			     analysis->function[from - 1].size)
		return -1;
	return (ptrdiff_t)from - 1;
}

/* Makes room for one more element. False if there are more than real code has, or out of
 * memory. */
static bool grow(struct analysis *analysis, void *array, size_t count, size_t *room,
		 size_t size)
{
	size_t wanted = *room ? 2 * *room : 1024;

	if (count < *room)
		return true;
	if (count > analysis->code->size / 4 + 1024)
		return false;
	if (!array_grow(array, wanted, size)) {
		analysis->is_out_of_memory = true;
		return false;
	}
	*room = wanted;
	return true;
}

static void add_edge(struct analysis *analysis, size_t to, bool is_jump)
{
	if (analysis->has_edges || !grow(analysis, &analysis->edge, analysis->edges,
					 &analysis->edge_room, sizeof(*analysis->edge)))
		return;
	analysis->edge[analysis->edges++] = (struct edge){
		(uint32_t)to, (uint32_t)analysis->current, is_jump};
}

static void add_entry(struct analysis *analysis, uint64_t address,
		      const struct code_state *state, bool by_guess)
{
	if (grow(analysis, &analysis->added, analysis->added_count, &analysis->added_room,
		 sizeof(*analysis->added)))
		analysis->added[analysis->added_count++] = (struct flow_entry){
			.address = address,
			.state = *state,
			.from = (uint32_t)analysis->current,
			.by_guess = by_guess,
		};
}

static enum flow_target function_leave(void *context, const struct x86_instruction *next,
				       const struct code_state *state, bool is_guess)
{
	struct analysis *analysis = context;
	ptrdiff_t number = find_function(analysis, next->target);
	bool is_call = next->act == X86_CALL;
	struct function *to;

	if (number < 0)
		return FLOW_RETURNS;
	to = &analysis->function[number];
	add_edge(analysis, (size_t)number, !is_call);
	if (is_call && to->start == next->target)
		to->is_called = true;
	if (!is_call && !state_is_entry(state) && state_rule(state).kind == UNWIND_CALLER)
		add_entry(analysis, next->target, state, is_guess);
	if (!is_call && to->is_interrupt)
		return FLOW_INTERRUPT;
	return to->never_returns ? FLOW_NEVER_RETURNS : FLOW_RETURNS;
}

/* Whether the code starts as functions that use the stack do: with a push, or by taking
 * room from the stack pointer. A part that was moved away continues instead. */
static bool has_prologue(const struct analysis *analysis, const struct function *function)
{
	const struct machine_code *code = analysis->code;
	const uint8_t *bytes = code->bytes + (function->start - code->address);
	struct x86_instruction first;
	size_t skip = starts_with_endbr(bytes, function->size) ? sizeof(endbr) : 0;

	first = x86_decode(bytes + skip, function->size - skip, 0, true);
	return first.act == X86_PUSH ||
	       (first.act == X86_ADD && first.to == X86_RSP && first.offset < 0);
}

/* Whether the code is a function and not a part of one. */
static bool is_function(const struct analysis *analysis, const struct function *function)
{
	if (function->part != CODE_PART_UNKNOWN)
		return function->part == CODE_PART_FUNCTION;
	return function->is_called || function->is_balanced ||
	       has_prologue(analysis, function);
}

static bool function_run(struct analysis *analysis, size_t number)
{
	const struct machine_code *code = analysis->code;
	struct function *function = &analysis->function[number];
	struct flow *flow = &analysis->flow;
	size_t first = find_entry(analysis, function->start);
	size_t end = find_entry(analysis, function->start + function->size);

	analysis->current = number;
	flow->code = code->bytes + (function->start - code->address);
	flow->size = function->size;
	flow->address = function->start;
	flow->entries = analysis->entry ? analysis->entry + first : NULL;
	flow->entry_count = end - first;
	flow->is_function = is_function(analysis, function);
	flow_run(flow);
	analysis->is_out_of_memory |= flow->is_out_of_memory;
	return !analysis->is_out_of_memory;
}

static void examine(struct analysis *analysis, size_t number)
{
	struct function *function = &analysis->function[number];
	const struct flow *flow = &analysis->flow;

	if (!function_run(analysis, number))
		return;
	function->is_examined = true;
	function->is_entered = flow->entry_count && !flow->entries[0].is_guess &&
			       flow->entries[0].address == function->start;
	/* A function with entries may be only the end of another one. */
	function->is_balanced |= flow->is_balanced && !flow->entry_count;
	function->is_changed |= !flow->returns && !function->never_returns;
	function->is_changed |= flow->is_interrupt && !function->is_interrupt;
	function->never_returns |= !flow->returns;
	function->is_interrupt |= flow->is_interrupt;
}

/* Compares entries by address; at one address, entries that are no guess come first. The
 * other members only make the order definite. */
static int compare_entries(const void *left, const void *right)
{
	const struct flow_entry *a = left, *b = right;
	int states;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->is_guess != b->is_guess)
		return a->is_guess ? 1 : -1;
	states = memcmp(&a->state, &b->state, sizeof(a->state));
	return states ? states : (a->from > b->from) - (a->from < b->from);
}

static bool is_same_entry(const struct flow_entry *a, const struct flow_entry *b)
{
	return a->address == b->address && a->is_guess == b->is_guess &&
	       memcmp(&a->state, &b->state, sizeof(a->state)) == 0;
}

/* Functions whose entries have changed are due. */
static bool compare_lists(struct analysis *analysis, const struct flow_entry *list,
			  size_t count)
{
	const struct flow_entry *old = analysis->entry;
	size_t i = 0, j = 0;
	bool is_any = false;

	while (i < analysis->entries || j < count) {
		const struct flow_entry *differs;
		ptrdiff_t number;
		int order = i == analysis->entries ? 1
			    : j == count	   ? -1
						   : compare_entries(&old[i], &list[j]);

		if (!order && is_same_entry(&old[i++], &list[j++]))
			continue;
		differs = order < 0 ? &old[i++] : &list[j++];
		number = find_function(analysis, differs->address);
		if (number < 0)
			continue;
		analysis->function[number].is_due = true;
		is_any = true;
	}
	return is_any;
}

/* Whether the state at the start of the function that jumps there is known. */
static bool is_evidence(const struct analysis *analysis, const struct flow_entry *entry)
{
	const struct function *from = &analysis->function[entry->from];

	return from->is_entered || is_function(analysis, from);
}

/* All entries: the pass's, and the earlier ones of functions that it did not examine. */
static size_t merge_entries(struct analysis *analysis, struct flow_entry *list)
{
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < analysis->entries; i++)
		if (!analysis->function[analysis->entry[i].from].is_examined)
			list[count++] = analysis->entry[i];
	if (analysis->added_count)
		memcpy(list + count, analysis->added,
		       analysis->added_count * sizeof(*list));
	count += analysis->added_count;
	for (size_t i = 0; i < count; i++)
		list[i].is_guess = list[i].by_guess || !is_evidence(analysis, &list[i]);
	qsort(list, count, sizeof(*list), compare_entries);
	for (size_t i = 0; i < count; i++)
		if (!kept || compare_entries(&list[kept - 1], &list[i]))
			list[kept++] = list[i];
	return kept;
}

/* Takes the pass's entries. False if they change nothing. */
static bool take_entries(struct analysis *analysis)
{
	size_t count = analysis->entries + analysis->added_count;
	struct flow_entry *list = calloc(count + 1, sizeof(*list));
	bool is_any;

	if (!list) {
		analysis->is_out_of_memory = true;
		return false;
	}
	count = merge_entries(analysis, list);
	is_any = compare_lists(analysis, list, count);
	free(analysis->entry);
	analysis->entry = list;
	analysis->entries = count;
	analysis->added_count = 0;
	return is_any;
}

/* Functions that depend on changed ones are due. False if there are none. */
static bool take_changes(struct analysis *analysis)
{
	bool is_any = false;

	for (size_t i = 0; i < analysis->edges; i++) {
		const struct edge *edge = &analysis->edge[i];
		const struct function *to = &analysis->function[edge->to];

		if (!to->is_changed || !(to->never_returns || edge->is_jump))
			continue;
		analysis->function[edge->from].is_due = true;
		is_any = true;
	}
	for (size_t i = 0; i < analysis->count; i++)
		analysis->function[i].is_changed = analysis->function[i].is_examined =
			false;
	return is_any;
}

static void examine_all(struct analysis *analysis)
{
	for (size_t pass = 0; pass < PASSES_MAX; pass++) {
		bool has_entries, has_changes;

		for (size_t i = 0; i < analysis->count; i++) {
			if (!analysis->function[i].is_due)
				continue;
			analysis->function[i].is_due = false;
			examine(analysis, i);
		}
		analysis->has_edges = true;
		has_entries = take_entries(analysis);
		has_changes = take_changes(analysis);
		if (analysis->is_out_of_memory || (!has_entries && !has_changes))
			return;
	}
}

/* xor %ebp,%ebp or xor %rbp,%rbp */
static bool clears_rbp(const uint8_t *code, unsigned int size)
{
	if (size == 3 && code[0] == 0x48)
		code++;
	else if (size != 2)
		return false;
	return (code[0] == 0x31 || code[0] == 0x33) && code[1] == 0xed;
}

/* Whether the function never returns and is not called: it starts a program or a thread.
 */
static bool is_start(const struct function *function)
{
	return function->never_returns && !function->is_called &&
	       function->part != CODE_PART_COLD;
}

/*
 * Whether the function clears the frame pointer, without saving it, before it calls
 * another: this marks the outermost frame (System V ABI for AMD64, section 3.4.1).
 */
static bool is_outermost(const struct function *function, const uint8_t *code)
{
	size_t at = 0;

	for (unsigned int i = 0; i < START_MAX && at < function->size; i++) {
		struct x86_instruction next = x86_decode(code + at, function->size - at,
							 0, true);

		if (clears_rbp(code + at, next.size))
			return true;
		if (next.act >= X86_CALL || next.act == X86_BAD || next.from == X86_RBP)
			return false;
		at += next.size;
	}
	return false;
}

/* Adds a rule for each run of instructions that share one, but for the last @left bytes.
 * Code without a caller that takes another stack is the outermost frame on it. */
static int add_runs(const struct flow *flow, uint64_t end, size_t left, bool has_caller,
		    struct unwind_builder *builder)
{
	struct unwind_rule rule = {.kind = UNWIND_UNKNOWN};
	uint64_t start = flow->address;
	uint16_t last = 0;

	for (size_t i = 0; i < flow->size - left; i++) {
		uint16_t number = flow->spot[i].state;
		struct unwind_rule next;

		if (number == last || !flow_is_instruction(flow, i))
			continue;
		last = number;
		next = state_rule(states_get(&flow->states, number));
		if (next.kind == UNWIND_UNKNOWN && !has_caller)
			next.kind = UNWIND_OUTERMOST;
		if (code_is_same_rule(&rule, &next))
			continue;
		if (unwind_builder_add(builder, start, flow->address + i, &rule))
			return -1;
		rule = next;
		start = flow->address + i;
	}
	return unwind_builder_add(builder, start, end, &rule);
}

/*
 * Whether the function, which is called, does nothing but load a program's registers and
 * return to it: until it takes the program's stack, it has a caller like any other.
 */
static bool restores_program(const struct flow *flow)
{
	return flow->is_system_return && !flow->body;
}

/* Returns the size of the function's last code, in which the program's stack pointer and,
 * in rcx, its address are in their registers, up to sysret; 0: there is none. */
static size_t restored_size(const struct flow *flow)
{
	const uint16_t rsp = 1 << X86_RSP, rcx = 1 << X86_RCX;
	struct x86_instruction next;
	size_t from = 0;

	for (size_t at = 0; at < flow->size; at += next.size) {
		next = x86_decode(flow->code + at, flow->size - at, flow->address + at,
				  true);
		if (next.act == X86_LEAVE_KERNEL)
			return from ? flow->size - from : 0;
		if (next.act != X86_OTHER && next.act != X86_ADD_OTHER &&
		    next.act != X86_LOSE && next.act != X86_LOAD_OTHER)
			return 0;
		if (next.to == X86_RSP || next.writes & rsp)
			from = at + next.size;
		else if (next.to == X86_RCX || next.writes & rcx)
			from = 0;
	}
	return 0;
}

/* Adds the rules of code that restores a program. */
static int add_restoring(const struct flow *flow, uint64_t end,
			 struct unwind_builder *builder)
{
	const struct unwind_rule rule = {
		.kind = UNWIND_CALLED_SYSTEM, .other = 1 + X86_RCX, .word = UNWIND_KEPT};
	size_t size = restored_size(flow);
	uint64_t from = flow->address + flow->size - size;

	if (size && unwind_builder_add(builder, from, end, &rule))
		return -1;
	return add_runs(flow, size ? from : end, size, true, builder);
}

static int add_rules(struct analysis *analysis, size_t number,
		     struct unwind_builder *builder)
{
	const struct function *function = &analysis->function[number];
	uint64_t end = function->start + function->size;

	if (function->is_interrupt && !function->is_called)
		return 0;
	if (!function_run(analysis, number))
		return -1;
	if (function->is_interrupt && !restores_program(&analysis->flow))
		return 0;
	if (is_start(function) && is_outermost(function, analysis->flow.code)) {
		struct unwind_rule rule = {.kind = UNWIND_OUTERMOST};

		return unwind_builder_add(builder, function->start, end, &rule);
	}
	if (number + 1 < analysis->count && function[1].start - end <= PADDING_MAX)
		end = function[1].start;
	if (restores_program(&analysis->flow))
		return add_restoring(&analysis->flow, end, builder);
	return add_runs(&analysis->flow, end, 0, !is_start(function), builder);
}

/* The functions within the code, without overlaps. False if out of memory. */
static bool take_functions(struct analysis *analysis)
{
	const struct machine_code *code = analysis->code;

	analysis->function = calloc(code->count + 1, sizeof(*analysis->function));
	if (!analysis->function)
		return false;
	for (size_t i = 0; i < code->count; i++) {
		const struct code_function *from = &code->functions[i];
		size_t size = code_function_size(code, i);

		if (!size)
			continue;
		analysis->function[analysis->count++] = (struct function){
			.start = from->start,
			.size = (uint32_t)size,
			.part = from->part,
			.is_due = true,
		};
	}
	return true;
}

int code_add_x86(struct unwind_builder *builder, const struct machine_code *code)
{
	struct analysis analysis = {.code = code};
	int status = -1;

	if (!flow_init(&analysis.flow) || !take_functions(&analysis))
		goto out;
	analysis.flow.leave = function_leave;
	analysis.flow.context = &analysis;
	examine_all(&analysis);
	if (analysis.is_out_of_memory)
		goto out;
	for (size_t i = 0; i < analysis.count; i++)
		if (add_rules(&analysis, i, builder))
			goto out;
	status = 0;
out:
	flow_free(&analysis.flow);
	free(analysis.function);
	free(analysis.edge);
	free(analysis.entry);
	free(analysis.added);
	return status;
}
