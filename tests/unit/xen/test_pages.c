/* SPDX-License-Identifier: BSD-3-Clause */

/* The store of mapped pages, with guests that choose their frames to attack it. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "xen/internal.h"
#include "xen/pages.h"

#define SECOND 1000000000ull

/* A Xen that maps all frames to one piece of memory, and counts the calls. */
static char memory[8 * GUEST_PAGE_SIZE];
static size_t mapped, most_mapped;

static xenforeignmemory_handle *fake_open(struct xentoollog_logger *logger,
					  unsigned int flags)
{
	(void)logger;
	(void)flags;
	return (void *)memory;
}

static int fake_close(xenforeignmemory_handle *handle)
{
	(void)handle;
	return 0;
}

static void *fake_map(xenforeignmemory_handle *handle, uint32_t domain, int prot,
		      size_t pages, const xen_pfn_t *frames, int *failures)
{
	(void)handle;
	(void)domain;
	(void)prot;
	(void)frames;
	assert_true(pages * GUEST_PAGE_SIZE <= sizeof(memory));
	for (size_t i = 0; failures && i < pages; i++)
		failures[i] = 0;
	mapped += pages;
	if (mapped > most_mapped)
		most_mapped = mapped;
	return memory;
}

static int fake_unmap(xenforeignmemory_handle *handle, void *map, size_t pages)
{
	(void)handle;
	(void)map;
	mapped -= pages;
	return 0;
}

static struct pages *new_pages(void)
{
	static struct xen xen = {.lib = {
					 .memory_open = fake_open,
					 .memory_close = fake_close,
					 .memory_map = fake_map,
					 .memory_unmap = fake_unmap,
				 }};
	struct pages *pages;
	struct error err;

	mapped = most_mapped = 0;
	pages = pages_new(&xen, 1, &err);
	assert_non_null(pages);
	return pages;
}

static void the_number_of_mapped_pages_is_limited(void **state)
{
	struct pages *pages = new_pages();
	uint64_t frame = 0;

	(void)state;
	for (uint64_t round = 0; round < 300; round++) {
		pages_begin(pages, SECOND + round, 300);
		for (unsigned int i = 0; i < 300; i++, frame += 8)
			pages_map(pages, frame);
	}
	assert_true(most_mapped >= 8 * 1024 && most_mapped <= 8 * 2048);
	pages_free(pages);
	assert_int_equal(mapped, 0);
}

static void the_number_of_map_calls_per_round_is_limited(void **state)
{
	struct pages *pages = new_pages();

	(void)state;
	pages_begin(pages, SECOND, 10);
	for (uint64_t i = 0; i < 20; i++) {
		pages_get(pages, 8 * i);
		assert_int_equal(pages_misses(pages), i + 1);
		assert_int_equal(pages_missed(pages), i < 10);
		assert_int_equal(pages_map(pages, 8 * i) != NULL, i < 10);
	}
	assert_int_equal(pages_map_calls(pages), 10);
	/* The next round maps the remaining pages. */
	pages_begin(pages, SECOND + 1, 10);
	for (uint64_t i = 0; i < 20; i++)
		assert_non_null(pages_map(pages, 8 * i));
	assert_int_equal(pages_map_calls(pages), 20);
	pages_free(pages);
	assert_int_equal(mapped, 0);
}

/* What is found without a search, is also found only as long as it is mapped. */
static void frames_that_were_found_are_forgotten_with_their_mappings(void **state)
{
	struct pages *pages = new_pages();
	const uint64_t frame = 8, other = 8 + 64, third = 8 + 128;

	(void)state;
	pages_begin(pages, SECOND, 10);
	assert_non_null(pages_map(pages, frame));
	for (unsigned int i = 0; i < 3; i++) {
		assert_non_null(pages_get(pages, frame));
		assert_null(pages_get(pages, i % 2 ? other : third));
	}
	assert_non_null(pages_get(pages, frame));
	pages_begin(pages, 20 * SECOND, 10);
	assert_int_equal(mapped, 0);
	assert_null(pages_get(pages, frame));
	assert_true(pages_missed(pages));
	pages_free(pages);
}

/* Pages that are still mapped are found as before. */
static void old_pages_are_unmapped_little_by_little(void **state)
{
	const size_t groups = 1000;
	struct pages *pages = new_pages();
	uint64_t time = 20 * SECOND;

	(void)state;
	pages_begin(pages, SECOND, groups);
	for (uint64_t i = 0; i < groups; i++)
		assert_non_null(pages_map(pages, 8 * 37 * i));
	assert_int_equal(mapped, 8 * groups);
	while (mapped) {
		const size_t before = mapped;
		size_t found = 0;

		pages_begin(pages, time++, groups);
		assert_true(mapped < before && before - mapped <= 8 * groups / 10);
		for (uint64_t i = 0; i < groups; i++)
			found += pages_get(pages, 8 * 37 * i + i % 8) != NULL;
		assert_int_equal(found, mapped / 8);
	}
	assert_non_null(pages_map(pages, 0));
	pages_free(pages);
	assert_int_equal(mapped, 0);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_map_calls_per_round_is_limited),
		cmocka_unit_test(the_number_of_mapped_pages_is_limited),
		cmocka_unit_test(old_pages_are_unmapped_little_by_little),
		cmocka_unit_test(
			frames_that_were_found_are_forgotten_with_their_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
