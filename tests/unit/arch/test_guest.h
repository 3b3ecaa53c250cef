/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_ARCH_TEST_GUEST_H
#define UNIPROF_TESTS_UNIT_ARCH_TEST_GUEST_H

/* Shared by the tests of guests: a guest's memory. GUEST_CPU is the type of its
 * registers, struct mode a way to translate its addresses; test_x86.h and test_arm.h
 * define both. */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "base/random.h"

#define FRAMES		1024 /* of 4 KiB, of the guest's memory */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct mode;

struct guest {
	const struct mode *mode;
	GUEST_CPU cpu;
	struct guest_memory memory;
	uint64_t root;	    /* ARM: physical address of the first table */
	uint64_t next;	    /* the next free frame */
	unsigned int calls; /* of page() */
	bool missing[FRAMES];
	_Alignas(8) uint8_t page[FRAMES][GUEST_PAGE_SIZE];
	uint64_t view[GUEST_PAGE_SIZE / 8]; /* returned by page() */
	uint8_t beyond[8];		    /* must not be read */
};

/* Returns one buffer for all pages, because a page is only valid until the next call:
 * code that reads an earlier page after that reads another's bytes, and the test fails.
 */
static inline const void *guest_page(void *context, uint64_t frame)
{
	struct guest *guest = context;

	guest->calls++;
	memset(guest->view, 0xee, sizeof(guest->view));
	if (frame >= FRAMES || guest->missing[frame])
		return NULL;
	memcpy(guest->view, guest->page[frame], GUEST_PAGE_SIZE);
	return guest->view;
}

/* An empty guest without page tables; its first frames are not free. */
static inline struct guest *guest_empty(const struct mode *mode)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	assert_non_null(guest);
	guest->mode = mode;
	guest->memory = (struct guest_memory){.page = guest_page, .context = guest};
	guest->next = 2;
	return guest;
}

#endif
