/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_READER_H
#define UNIPROF_ARCH_READER_H

#include <stdbool.h>

#include "arch/arch.h"

/*
 * Reads of guest-virtual memory, for arch/ alone. A chain's frames lie close to each
 * other, so the page of the last read is most often that of the next, too.
 */
struct reader {
	enum translation (*translate)(const void *cpu, const struct guest_memory *memory,
				      uint64_t address, uint64_t *frame);
	const void *cpu;
	const struct guest_memory *memory;
	uint64_t page_address;
	const void *page;	/* NULL: none yet, or the last read failed */
	enum chain_end failure; /* of the last read that failed */
};

/* Makes the page of @address the reader's: costs up to READ_PAGES_MAX page() calls. */
bool reader_enter_page(struct reader *reader, uint64_t address);

static inline bool reader_enter(struct reader *reader, uint64_t address)
{
	uint64_t page_address = address & ~(uint64_t)(GUEST_PAGE_SIZE - 1);

	if (reader->page && reader->page_address == page_address)
		return true;
	return reader_enter_page(reader, address);
}

/* A shared page can change even while the guest is paused: read each word once.
 * @size is 2, 4 or 8 bytes. */
static inline uint64_t guest_word(const void *page, unsigned int offset,
				  unsigned int size)
{
	const char *at = (const char *)page + offset;

	switch (size) {
	case 2:
		return *(const volatile uint16_t *)at;
	case 4:
		return *(const volatile uint32_t *)at;
	default:
		return *(const volatile uint64_t *)at;
	}
}

/* @address is a multiple of @size, so no word crosses into another page. */
static inline bool reader_word(struct reader *reader, uint64_t address, unsigned int size,
			       uint64_t *word)
{
	if (!reader_enter(reader, address))
		return false;
	*word = guest_word(reader->page, address & (GUEST_PAGE_SIZE - 1), size);
	return true;
}

/*
 * Adds to @chain the callers that a chain of records tells of, from the one at @frame
 * on: in each the address of the caller's, 0 in the last, and, above it, the return
 * address. Words have @size bytes; @clean() makes an address that is looked up of a
 * return address. In a header, as @clean is a constant where this is called.
 */
static inline void reader_follow(struct reader *reader, uint64_t frame, unsigned int size,
				 uint64_t (*clean)(const void *cpu, uint64_t address),
				 struct chain *chain)
{
	for (chain->end = CHAIN_WHOLE; frame;) {
		uint64_t next, caller;

		if (chain->count >= CHAIN_MAX) {
			chain->end = CHAIN_TOO_DEEP;
			return;
		}
		if (frame % size) {
			chain->end = CHAIN_UNALIGNED;
			return;
		}
		if (!reader_word(reader, frame, size, &next) ||
		    !reader_word(reader, frame + size, size, &caller)) {
			chain->end = reader->failure;
			return;
		}
		caller = clean(reader->cpu, caller);
		if (!caller)
			return;
		chain->address[chain->count++] = caller;
		if (next && next <= frame) {
			chain->end = CHAIN_NOT_ASCENDING;
			return;
		}
		frame = next;
	}
}

#endif
