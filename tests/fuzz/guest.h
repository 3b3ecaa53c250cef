/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_FUZZ_GUEST_H
#define UNIPROF_TESTS_FUZZ_GUEST_H

/*
 * Shared by the fuzzers of guests: a guest's memory, made from the input. It has few
 * frames. Higher frame numbers refer to these again, or are missing.
 */

#include <string.h>

#include "arch/arch.h"
#include "tests/fuzz/check.h"

#define FRAMES 16
#define MEMORY (FRAMES * GUEST_PAGE_SIZE)

struct guest {
	uint8_t memory[MEMORY];
	void *page; /* the last one returned */
	unsigned int calls;
};

/* Returns a page that is freed at the next call, so that reads of an earlier page, or
 * beyond a page, are detected. */
static inline const void *guest_page(void *context, uint64_t frame)
{
	struct guest *guest = context;

	guest->calls++;
	free(guest->page);
	guest->page = NULL;
	if (frame & FRAMES)
		return NULL;
	guest->page = aligned_alloc(GUEST_PAGE_SIZE, GUEST_PAGE_SIZE);
	check(guest->page != NULL);
	memcpy(guest->page, guest->memory + frame % FRAMES * GUEST_PAGE_SIZE,
	       GUEST_PAGE_SIZE);
	return guest->page;
}

/* The next @bytes of the input; what is missing at its end is 0. */
static inline uint64_t take(const uint8_t **data, size_t *size, size_t bytes)
{
	uint64_t number = 0;

	if (bytes > *size)
		bytes = *size;
	memcpy(&number, *data, bytes);
	*data += bytes;
	*size -= bytes;
	return number;
}

/* Words with their positions, or consecutive ones. */
static inline void fill_memory(struct guest *guest, const uint8_t *data, size_t size,
			       bool in_row)
{
	memset(guest->memory, 0, MEMORY);
	if (in_row) {
		memcpy(guest->memory, data, size < MEMORY ? size : MEMORY);
		return;
	}
	while (size) {
		uint64_t at = take(&data, &size, 2) * 8 % MEMORY;
		uint64_t word = take(&data, &size, 8);

		memcpy(guest->memory + at, &word, sizeof(word));
	}
}

#endif
