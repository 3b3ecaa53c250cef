/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/parts.h"

#include "base/array.h"

static bool grow_queue(struct code_queue *queue)
{
	size_t room = queue->room ? 2 * queue->room : 256;

	if (queue->count < queue->room)
		return true;
	if (!array_grow(&queue->list, room, sizeof(*queue->list)))
		return false;
	queue->room = room;
	return true;
}

bool code_queue_push(struct code_queue *stack, uint32_t offset)
{
	if (!grow_queue(stack))
		return false;
	stack->list[stack->count++] = offset;
	return true;
}

/* Each element of the heap is not above its children, 2i + 1 and 2i + 2. */
bool code_queue_push_later(struct code_queue *heap, uint32_t offset)
{
	size_t at = heap->count;

	if (!grow_queue(heap))
		return false;
	heap->count++;
	for (; at && heap->list[(at - 1) / 2] > offset; at = (at - 1) / 2)
		heap->list[at] = heap->list[(at - 1) / 2];
	heap->list[at] = offset;
	return true;
}

uint32_t code_queue_pop_lowest(struct code_queue *heap)
{
	uint32_t lowest = heap->list[0], last = heap->list[--heap->count];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < heap->count) {
		if (child + 1 < heap->count && heap->list[child + 1] < heap->list[child])
			child++;
		if (heap->list[child] >= last)
			break;
		heap->list[at] = heap->list[child];
		at = child;
	}
	heap->list[at] = last;
	return lowest;
}

size_t code_function_size(const struct machine_code *code, size_t number)
{
	const struct code_function *function = &code->functions[number];
	uint64_t room = code->size - (function->start - code->address);

	if (function->start - code->address >= code->size)
		return 0;
	if (number + 1 < code->count) {
		if (function[1].start <= function->start)
			return 0;
		if (function[1].start - function->start < room)
			room = function[1].start - function->start;
	}
	if (function->size && function->size < room)
		room = function->size;
	return room > FLOW_SIZE_MAX ? 0 : room;
}

bool code_is_same_rule(const struct unwind_rule *a, const struct unwind_rule *b)
{
	if (a->kind != b->kind || a->kind != UNWIND_CALLER)
		return a->kind == b->kind;
	return a->from_fp == b->from_fp && a->from_word == b->from_word &&
	       a->fp_by_register == b->fp_by_register && a->word == b->word &&
	       a->cfa == b->cfa && a->caller == b->caller && a->fp == b->fp &&
	       a->other == b->other;
}
