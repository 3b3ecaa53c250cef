/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/reader.h"

static enum translation reader_translate(struct reader *reader, uint64_t address,
					 uint64_t *frame)
{
	if (!reader->input->is_flat)
		return reader->translate(reader->cpu, &reader->input->memory,
					 &reader->last, address, frame);
	*frame = address / GUEST_PAGE_SIZE;
	return TRANSLATED;
}

bool reader_enter_page(struct reader *reader, uint64_t address)
{
	const struct guest_memory *memory = &reader->input->memory;
	uint64_t frame;

	reader->page = NULL;
	reader->entered++;
	switch (reader_translate(reader, address, &frame)) {
	case TRANSLATED:
		reader->page = memory->page(memory->context, frame);
		reader->page_address = address & ~(uint64_t)(GUEST_PAGE_SIZE - 1);
		reader->failure = CHAIN_NO_PAGE;
		break;
	case NOT_PRESENT:
		reader->failure = CHAIN_NOT_PRESENT;
		break;
	case NOT_CANONICAL:
		reader->failure = CHAIN_NOT_CANONICAL;
		break;
	case NO_PAGE:
		reader->failure = CHAIN_NO_PAGE;
		break;
	}
	return reader->page != NULL;
}

bool reader_stack_word(struct reader *reader, uint64_t address, unsigned int size,
		       uint64_t *word)
{
	const struct unwind_stack *stack = reader->input->stack;
	uint64_t offset = address - stack->start;

	reader->failure = CHAIN_NOT_CAPTURED;
	if (offset / 8 >= stack->count)
		return false;
	*word = guest_word(stack->word + offset / 8, offset % 8, size);
	return true;
}
