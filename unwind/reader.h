/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_READER_H
#define UNIPROF_UNWIND_READER_H

#include <stdbool.h>

#include "arch/common.h"
#include "unwind/unwind.h"

/*
 * Reads guest-virtual memory; for unwind/ only. The frames of a chain are close to each
 * other, so the page of the last read is kept for the next one.
 */
struct reader {
	enum translation (*translate)(const void *cpu, const struct guest_memory *memory,
				      struct last_table *last, uint64_t address,
				      uint64_t *frame);
	const void *cpu;
	const struct unwind_input *input;
	struct last_table last;
	uint64_t page_address;
	const void *page;	/* NULL: none yet, or the last read failed */
	unsigned int entered;	/* number of pages that were switched to */
	enum chain_end failure; /* of the last read that failed */
};

/* Switches the reader to the page of @address: up to READ_PAGES_MAX page() calls. */
bool reader_enter_page(struct reader *reader, uint64_t address);

static inline bool reader_enter(struct reader *reader, uint64_t address)
{
	uint64_t page_address = address & ~(uint64_t)(GUEST_PAGE_SIZE - 1);

	if (reader->page && reader->page_address == page_address)
		return true;
	return reader_enter_page(reader, address);
}

/* Reads a word from the input's stack. */
bool reader_stack_word(struct reader *reader, uint64_t address, unsigned int size,
		       uint64_t *word);

/* @address must be a multiple of @size, so that no word crosses into another page. */
static inline bool reader_word(struct reader *reader, uint64_t address, unsigned int size,
			       uint64_t *word)
{
	if (reader->input->stack)
		return reader_stack_word(reader, address, size, word);
	if (!reader_enter(reader, address))
		return false;
	*word = guest_word(reader->page, address & (GUEST_PAGE_SIZE - 1), size);
	return true;
}

/* The page that the last word was read from, for loops, which keep it in registers. */
struct reader_window {
	const void *page;
	uint64_t start; /* the page's address */
	uint64_t size;	/* 0: no page */
};

static inline struct reader_window reader_window(const struct reader *reader)
{
	bool has_page = reader->page && !reader->input->stack;

	return (struct reader_window){reader->page, reader->page_address,
				      has_page ? GUEST_PAGE_SIZE : 0};
}

/* reader_word(), with the reader's window. */
static inline bool reader_next_word(struct reader *reader, struct reader_window *window,
				    uint64_t address, unsigned int size, uint64_t *word)
{
	uint64_t offset = address - window->start;

	if (offset < window->size) {
		*word = guest_word(window->page, (unsigned int)offset, size);
		return true;
	}
	if (!reader_word(reader, address, size, word))
		return false;
	*window = reader_window(reader);
	return true;
}

#endif
