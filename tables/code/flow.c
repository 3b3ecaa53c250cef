/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/flow.h"

#include <string.h>
#include <stdlib.h>

#include "arch/x86/cpu.h"
#include "base/array.h"

/*
 * The state is carried from the first instruction along all jumps. Each instruction is
 * decoded once, unless two paths disagree about the state there. What follows a call is
 * examined only when there is nothing else, the lowest address first: if the called
 * function does not return, it belongs to another path, which has then been taken. At the
 * end there remains the code that no jump reaches: cases of a switch, and landing pads of
 * exceptions.
 */

bool flow_init(struct flow *flow)
{
	memset(flow, 0, sizeof(*flow));
	flow->calls = calloc(STATES_MAX + 1, sizeof(*flow->calls));
	return states_init(&flow->states) && flow->calls;
}

void flow_free(struct flow *flow)
{
	states_free(&flow->states);
	free(flow->calls);
	free(flow->spot);
	free(flow->next.list);
	free(flow->later.list);
}

static void push_next(struct flow *flow, uint32_t offset)
{
	flow->is_out_of_memory |= !code_queue_push(&flow->next, offset);
}

/*
 * Merges the state of a path into the one at @offset. Paths of one phase must agree:
 * where they differ, only the facts they share remain. An earlier phase is better
 * evidence. True if the code there is to be followed (again).
 */
static bool arrive(struct flow *flow, size_t offset, uint16_t number)
{
	struct flow_spot *spot = &flow->spot[offset];
	struct code_state state;

	if (!number || spot->kind == SPOT_INSIDE)
		return false;
	if (flow_is_instruction(flow, offset)) {
		if (spot->state == number || spot->phase != flow->phase)
			return false;
		state = *states_get(&flow->states, spot->state);
		state_meet(&state, states_get(&flow->states, number));
		number = states_number(&flow->states, &state);
		if (!number || number == spot->state)
			return false;
	}
	*spot = (struct flow_spot){flow->phase, number, SPOT_INSTRUCTION};
	return true;
}

/* No-operations, breakpoints and zeros. Returns their size, 0 for other code. */
static size_t padding_at(const struct flow *flow, size_t offset)
{
	const uint8_t *code = flow->code + offset;
	size_t left = flow->size - offset, prefixes = 0;
	struct x86_instruction next;

	while (prefixes < left && (code[prefixes] == 0x66 || code[prefixes] == 0x2e))
		prefixes++;
	if (prefixes == left)
		return left;
	next = x86_decode(code, left, 0, true);
	if (next.act == X86_STOP || code[prefixes] == 0x90)
		return next.size;
	if (left - prefixes >= 2 && code[prefixes] == 0x0f && code[prefixes + 1] == 0x1f)
		return next.size;
	if (left >= 2 && code[0] == 0 && code[1] == 0)
		return 2;
	return 0;
}

/* Whether only padding follows up to the function's end. */
static bool is_end(const struct flow *flow, size_t offset)
{
	size_t padding = 1;

	for (; offset < flow->size && padding; offset += padding)
		padding = padding_at(flow, offset);
	return padding != 0;
}

/* Control may reach the offset in this state, but there is little evidence: the path is
 * followed when nothing else is left. */
static void arrive_later(struct flow *flow, size_t offset, uint16_t number)
{
	struct flow_spot *spot = &flow->spot[offset];

	if (!number || (spot->kind != SPOT_UNSEEN && spot->kind != SPOT_PADDING) ||
	    is_end(flow, offset))
		return;
	*spot = (struct flow_spot){flow->phase, number, SPOT_LATER};
	flow->is_out_of_memory |= !code_queue_push_later(&flow->later, (uint32_t)offset);
}

static bool is_within(const struct flow *flow, uint64_t address)
{
	return address - flow->address < flow->size;
}

/* A path with its state, which is numbered when it is needed. */
struct path {
	size_t offset;
	size_t last; /* offset of the previous instruction; equal to offset if there is
			none */
	struct code_state state;
	uint16_t number;
};

static enum flow_target path_leave(struct flow *flow, const struct path *path,
				   const struct x86_instruction *next)
{
	return flow->leave(flow->context, next, &path->state, flow->is_guessing);
}

static void jump(struct flow *flow, const struct path *path,
		 const struct x86_instruction *next)
{
	size_t offset = next->target - flow->address;

	if (is_within(flow, next->target)) {
		if (arrive(flow, offset, path->number))
			push_next(flow, (uint32_t)offset);
		return;
	}
	switch (path_leave(flow, path, next)) {
	case FLOW_RETURNS:
		flow->returns = true;
		break;
	case FLOW_NEVER_RETURNS:
		break;
	case FLOW_INTERRUPT:
		flow->is_interrupt = true;
		break;
	}
}

/* A call within the function goes to a part of the function, and returns. A call of the
 * next instruction only pushes its address. */
static void call(struct flow *flow, struct path *path, const struct x86_instruction *next)
{
	size_t after = path->offset + next->size;
	struct code_state inner = state_at_entry();

	if (next->act == X86_CALL && next->target == flow->address + after) {
		struct x86_instruction push = {
			.act = X86_PUSH, .from = X86_NO_REGISTER, .offset = -8};

		state_step(&path->state, &push);
		path->number = states_number(&flow->states, &path->state);
		if (after < flow->size && arrive(flow, after, path->number))
			push_next(flow, (uint32_t)after);
		return;
	}
	if (next->act == X86_CALL && is_within(flow, next->target) &&
	    next->target != flow->address) {
		size_t offset = next->target - flow->address;

		if (arrive(flow, offset, states_number(&flow->states, &inner)))
			push_next(flow, (uint32_t)offset);
	} else if (next->act == X86_CALL &&
		   path_leave(flow, path, next) == FLOW_NEVER_RETURNS) {
		return;
	}
	state_return(&path->state);
	path->number = states_number(&flow->states, &path->state);
	if (!flow->is_guessing && ++flow->calls[path->number] > flow->calls[flow->body])
		flow->body = path->number;
	if (after < flow->size)
		arrive_later(flow, after, path->number);
}

/*
 * Takes a far return. With no more than the return address on the stack, it returns from
 * an interrupt. With a frame that the function itself has pushed, it jumps to another
 * segment, or to the function's own code.
 */
static void return_far(struct flow *flow, const struct path *path)
{
	if (state_depth(&path->state) <= 8)
		flow->is_interrupt = true;
}

/*
 * Notes code whose address is taken, to be followed later. OCaml's exception handlers,
 * for example, are entered with the stack pointer at this point, without the handler's
 * record.
 */
static void take_address(struct flow *flow, const struct path *path,
			 const struct x86_instruction *lea)
{
	if (lea->target && is_within(flow, lea->target) && lea->target != flow->address)
		arrive_later(flow, lea->target - flow->address, path->number);
}

/*
 * Continues behind the function's end without a jump: the next function is a part of it.
 */
static void fall_off(struct flow *flow, const struct path *path)
{
	struct x86_instruction next = {
		.act = X86_JUMP,
		.target = flow->address + flow->size,
	};

	jump(flow, path, &next);
}

/*
 * Whether an indirect jump is by a table of addresses or offsets, and not a tail call:
 * jmp *table(,%reg,8), or add %base,%reg; jmp *%reg.
 */
static bool is_table_jump(const struct flow *flow, const struct path *path)
{
	const uint8_t *code = flow->code + path->offset,
		      *before = flow->code + path->last;
	size_t left = flow->size - path->offset;

	if (left > 3 && (code[0] == 0x3e || (code[0] & 0xf0) == 0x40)) {
		code++;
		left--;
	}
	if (left > 3 && (code[0] & 0xf0) == 0x40)
		code++;
	if (left < 2 || code[0] != 0xff)
		return false;
	if (code[1] == 0x24)
		return (code[2] & 0x38) != 0x20;
	return path->last < path->offset && code[1] >= 0xe0 &&
	       (before[0] & 0xf8) == 0x48 && (before[1] == 0x01 || before[1] == 0x03) &&
	       before[2] >= 0xc0;
}

/*
 * The end of a loop that touches each page of a large frame (-fstack-clash-protection,
 * Rust): cmp %reg,%rsp; jne. After it, they are equal.
 */
static void end_probes(struct flow *flow, struct path *path)
{
	const uint8_t *compare = flow->code + path->last,
		      *jne = flow->code + path->offset;

	if (path->offset - path->last != 3 || (compare[0] & 0xfb) != 0x48 ||
	    compare[1] != 0x39 || (compare[2] & 0xc7) != 0xc4)
		return;
	if (jne[0] != 0x75 && (jne[0] != 0x0f || jne[1] != 0x85))
		return;
	state_set_sp(&path->state,
		     (uint8_t)((compare[2] >> 3 & 7) | (compare[0] & 4) << 1));
	path->number = states_number(&flow->states, &path->state);
}

/*
 * sub %rax,%rsp after mov $n,%eax; call __rust_probestack, as Rust up to 1.66 allocates
 * large frames. Returns n, or 0.
 */
static int32_t probed_size(const struct flow *flow, size_t offset)
{
	static const uint8_t sub[] = {0x48, 0x29, 0xc4};
	const uint8_t *code = flow->code + offset;
	struct x86_instruction call;
	int32_t size;

	if (offset < 10 || flow->size - offset < sizeof(sub) ||
	    memcmp(code, sub, sizeof(sub)) != 0 || code[-10] != 0xb8 ||
	    !flow_is_instruction(flow, offset - 10))
		return 0;
	call = x86_decode(code - 5, 5, 0, true);
	memcpy(&size, code - 9, sizeof(size));
	return call.act == X86_CALL && size > 0 ? size : 0;
}

static void path_step(struct flow *flow, struct path *path,
		      const struct x86_instruction *next)
{
	struct x86_instruction sub = {.act = X86_ADD, .to = X86_RSP, .from = X86_RSP};

	if (next->act == X86_LOSE && next->to == X86_RSP)
		sub.offset = -probed_size(flow, path->offset);
	state_step(&path->state, sub.offset ? &sub : next);
	path->number = states_number(&flow->states, &path->state);
}

/* Follows one instruction; false if the path ends there. */
static bool path_take(struct flow *flow, struct path *path,
		      const struct x86_instruction *next)
{
	switch (next->act) {
	case X86_BAD:
		flow->returns = true;
		return false;
	case X86_JUMP:
		jump(flow, path, next);
		return false;
	case X86_JUMP_IF:
		jump(flow, path, next);
		end_probes(flow, path);
		return path->number != 0;
	case X86_JUMP_INDIRECT:
		flow->returns = true;
		if (!state_is_entry(&path->state) || is_table_jump(flow, path))
			flow->spot[path->offset].kind = SPOT_SWITCH;
		return false;
	case X86_CALL:
	case X86_CALL_INDIRECT:
		call(flow, path, next);
		return false;
	case X86_RETURN:
		flow->returns = true;
		flow->is_balanced |= !flow->is_guessing && state_is_entry(&path->state);
		return false;
	case X86_RETURN_FAR:
		return_far(flow, path);
		return false;
	case X86_LEAVE_KERNEL:
		flow->is_interrupt = flow->is_system_return = true;
		return false;
	case X86_STOP:
		return false;
	case X86_OTHER:
		take_address(flow, path, next);
		/* Most instructions touch neither rbp nor a copy of the stack pointer. */
		if (path->state.reg == X86_NO_REGISTER && !(next->writes >> X86_RBP & 1))
			return true;
		break;
	default:
		break;
	}
	path_step(flow, path, next);
	return path->number != 0;
}

static void path_follow(struct flow *flow, size_t offset)
{
	struct path path = {
		.offset = offset, .last = offset, .number = flow->spot[offset].state};

	path.state = *states_get(&flow->states, path.number);
	for (;;) {
		struct x86_instruction next = x86_decode(
			flow->code + path.offset, flow->size - path.offset,
			flow->address + path.offset, true);

		for (unsigned int i = 1; i < next.size; i++)
			if (flow->spot[path.offset + i].kind != SPOT_LATER)
				flow->spot[path.offset + i].kind = SPOT_INSIDE;
		if (!path_take(flow, &path, &next))
			return;
		if (next.act == X86_HALT && is_end(flow, path.offset + next.size))
			return;
		if (path.offset + next.size >= flow->size) {
			fall_off(flow, &path);
			return;
		}
		path.last = path.offset;
		path.offset += next.size;
		if (!arrive(flow, path.offset, path.number))
			return;
		/* After paths disagreed, less may be known. */
		if (flow->spot[path.offset].state != path.number) {
			path.number = flow->spot[path.offset].state;
			path.state = *states_get(&flow->states, path.number);
		}
	}
}

/* Follows all paths from the offsets in the queues. */
static void follow_all(struct flow *flow)
{
	for (;;) {
		uint32_t offset;

		while (flow->next.count)
			path_follow(flow, flow->next.list[--flow->next.count]);
		if (!flow->later.count)
			return;
		offset = code_queue_pop_lowest(&flow->later);
		flow->phase++;
		if (flow->spot[offset].kind != SPOT_LATER)
			continue;
		if (arrive(flow, offset, flow->spot[offset].state))
			push_next(flow, offset);
	}
}

static void start_at(struct flow *flow, size_t offset, const struct code_state *state)
{
	flow->phase++;
	if (arrive(flow, offset, states_number(&flow->states, state)))
		push_next(flow, (uint32_t)offset);
}

static void flow_clear(struct flow *flow)
{
	memset(flow->spot, 0, flow->size * sizeof(*flow->spot));
	memset(flow->calls, 0, (flow->states.count + 1) * sizeof(*flow->calls));
	states_clear(&flow->states);
	flow->next.count = flow->later.count = 0;
	flow->phase = 0;
	flow->body = 0;
	flow->returns = flow->is_interrupt = flow->is_guessing = false;
	flow->is_system_return = false;
	flow->is_balanced = false;
}

static const struct flow_entry *entry_at_start(const struct flow *flow)
{
	if (flow->entry_count && flow->entries[0].address == flow->address)
		return &flow->entries[0];
	return NULL;
}

/* Whether the function is a part of another one and entered only in the middle. Then the
 * state at its start is not known. */
static bool is_fragment(const struct flow *flow)
{
	if (flow->is_function || entry_at_start(flow))
		return false;
	for (size_t i = 0; i < flow->entry_count; i++)
		if (!flow->entries[i].is_guess)
			return true;
	return false;
}

static void enter_middle(struct flow *flow, bool by_guess)
{
	flow->is_guessing = by_guess;
	for (size_t i = 0; i < flow->entry_count; i++) {
		const struct flow_entry *entry = &flow->entries[i];
		size_t offset = entry->address - flow->address;

		if (flow->spot[offset].kind != SPOT_UNSEEN || entry->is_guess != by_guess)
			continue;
		start_at(flow, offset, &entry->state);
		follow_all(flow);
	}
}

static void mark_padding(struct flow *flow, size_t offset, size_t size)
{
	for (size_t i = offset; i < offset + size; i++)
		if (flow->spot[i].kind == SPOT_UNSEEN)
			flow->spot[i].kind = SPOT_PADDING;
}

/* Code that no jump reaches, after a switch: its cases, in the state of the last one. */
static void follow_cases(struct flow *flow)
{
	size_t last = 0, padding;

	for (size_t i = 0; i < flow->size; i++) {
		if (flow->spot[i].kind == SPOT_SWITCH)
			last = i;
		if (flow->spot[i].kind != SPOT_UNSEEN || !last)
			continue;
		padding = padding_at(flow, i);
		mark_padding(flow, i, padding);
		if (padding)
			continue;
		start_at(flow, i, states_get(&flow->states, flow->spot[last].state));
		follow_all(flow);
	}
}

/* Code that nothing leads to, as landing pads of exceptions: follows it in the state of
 * most calls, which is the state of the function's body. */
static void follow_rest(struct flow *flow)
{
	struct code_state body = state_at_entry();
	size_t padding;

	if (flow->body)
		body = *states_get(&flow->states, flow->body);
	for (size_t i = 0; i < flow->size; i++) {
		if (flow->spot[i].kind != SPOT_UNSEEN)
			continue;
		padding = padding_at(flow, i);
		mark_padding(flow, i, padding);
		if (padding)
			continue;
		start_at(flow, i, &body);
		follow_all(flow);
	}
}

void flow_run(struct flow *flow)
{
	const struct flow_entry *entry;
	struct code_state start = state_at_entry();

	if (flow->size > flow->spot_room) {
		if (!array_grow(&flow->spot, flow->size, sizeof(*flow->spot))) {
			flow->is_out_of_memory = true;
			return;
		}
		flow->spot_room = flow->size;
	}
	flow_clear(flow);
	entry = entry_at_start(flow);
	if (entry && !flow->is_function)
		start = entry->state;
	if (!is_fragment(flow))
		start_at(flow, 0, &start);
	follow_all(flow);
	enter_middle(flow, false);
	follow_cases(flow);
	enter_middle(flow, true);
	follow_rest(flow);
}
