/* SPDX-License-Identifier: BSD-3-Clause */

/* Which pages of a VMM are copied again, and when. This process is the VMM. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "guest/guest.h"
#include "kvm/memory/copies.h"

#define PAGES 100
#define TIME  NS_PER_S
#define MS    (NS_PER_S / 1000)

struct scene {
	char *memory; /* of PAGES pages: frame i is page i */
	struct vmm_pages pages, open;
	struct copies *copies;
};

static int setup(void **state)
{
	static struct scene scene;
	struct error err;

	scene.memory = mmap(NULL, (size_t)PAGES * GUEST_PAGE_SIZE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	assert_true(scene.memory != MAP_FAILED);
	assert_int_equal(vmm_pages_open(&scene.open, getpid(), &err), 0);
	scene.pages = scene.open;
	scene.copies = copies_new(&scene.pages, &err);
	assert_non_null(scene.copies);
	copies_begin(scene.copies, TIME, 64);
	*state = &scene;
	return 0;
}

static int teardown(void **state)
{
	struct scene *scene = *state;

	copies_free(scene->copies);
	vmm_pages_close(&scene->open);
	munmap(scene->memory, (size_t)PAGES * GUEST_PAGE_SIZE);
	return 0;
}

static char *page(const struct scene *scene, unsigned int frame)
{
	return scene->memory + (size_t)frame * GUEST_PAGE_SIZE;
}

/* The first byte of a page; -1 if it can't be had. */
static int get(struct scene *scene, unsigned int frame, enum copies_access access)
{
	bool absent;
	const char *copy = copies_get(scene->copies, frame, (uintptr_t)page(scene, frame),
				      access, &absent);

	return copy ? *copy : -1;
}

/* From now on, only pages that are kept can be had: whether others are in memory can't be
 * asked. */
static void nothing_new(struct scene *scene)
{
	scene->pages.pagemap = -1;
}

static void what_was_looked_at_is_copied_again_in_a_pause(void **state)
{
	struct scene *scene = *state;

	*page(scene, 1) = 1;
	assert_int_equal(get(scene, 1, COPIES_RUNNING), 1);
	*page(scene, 1) = 2;
	assert_int_equal(get(scene, 1, COPIES_RUNNING), 1);
	nothing_new(scene);
	copies_prepare(scene->copies);
	*page(scene, 1) = 3;
	assert_int_equal(get(scene, 1, COPIES_IN_PAUSE), 3);
	assert_int_equal(get(scene, 2, COPIES_IN_PAUSE), -1);
}

static void pages_of_the_last_pause_are_kept_for_a_while(void **state)
{
	struct scene *scene = *state;

	get(scene, 1, COPIES_RUNNING);
	get(scene, 2, COPIES_RUNNING);
	copies_prepare(scene->copies);
	get(scene, 2, COPIES_IN_PAUSE);
	/* In between, other pages are of interest. */
	copies_begin(scene->copies, TIME + 1, 64);
	get(scene, 3, COPIES_RUNNING);

	nothing_new(scene);
	copies_begin(scene->copies, TIME + 4 * MS, 64);
	*page(scene, 2) = 7;
	assert_int_equal(get(scene, 1, COPIES_RUNNING), -1);
	assert_int_equal(get(scene, 2, COPIES_RUNNING), 7);
	assert_int_equal(get(scene, 3, COPIES_RUNNING), -1);
	copies_begin(scene->copies, TIME + 6 * MS, 64);
	assert_int_equal(get(scene, 2, COPIES_RUNNING), -1);
}

static void a_pause_copies_nothing_that_was_not_looked_at(void **state)
{
	struct scene *scene = *state;

	copies_prepare(scene->copies);
	get(scene, 1, COPIES_IN_PAUSE);
	get(scene, 2, COPIES_IN_PAUSE);
	copies_begin(scene->copies, TIME + MS, 64);
	get(scene, 2, COPIES_RUNNING);
	nothing_new(scene);
	copies_prepare(scene->copies);
	assert_int_equal(get(scene, 1, COPIES_IN_PAUSE), -1);
	assert_int_equal(get(scene, 2, COPIES_IN_PAUSE), 0);
}

static void few_pages_are_copied_one_by_one_in_a_pause(void **state)
{
	struct scene *scene = *state;
	unsigned int copied = 0;

	copies_begin(scene->copies, TIME, PAGES);
	copies_prepare(scene->copies);
	while (copied < PAGES && get(scene, copied, COPIES_IN_PAUSE) == 0)
		copied++;
	assert_int_equal(copied, 64);
	assert_int_equal(copies_misses(scene->copies), 1);
	assert_true(copies_have_room(scene->copies));
	assert_int_equal(get(scene, copied, COPIES_RUNNING), 0);
}

static void a_round_copies_no_more_than_allowed(void **state)
{
	struct scene *scene = *state;

	copies_prepare(scene->copies);
	get(scene, 1, COPIES_IN_PAUSE);
	copies_begin(scene->copies, TIME + MS, 2);
	assert_int_equal(get(scene, 2, COPIES_RUNNING), 0);
	assert_int_equal(get(scene, 3, COPIES_RUNNING), 0);
	assert_false(copies_have_room(scene->copies));
	assert_int_equal(get(scene, 4, COPIES_RUNNING), -1);
	assert_int_equal(get(scene, 1, COPIES_RUNNING), 0);
}

static void a_page_that_is_gone_is_dropped(void **state)
{
	struct scene *scene = *state;

	for (unsigned int i = 0; i < 3; i++)
		get(scene, i, COPIES_RUNNING);
	munmap(page(scene, 1), GUEST_PAGE_SIZE);
	copies_prepare(scene->copies);
	*page(scene, 0) = *page(scene, 2) = 5;
	assert_int_equal(get(scene, 0, COPIES_IN_PAUSE), 5);
	assert_int_equal(get(scene, 1, COPIES_IN_PAUSE), -1);
	assert_int_equal(get(scene, 2, COPIES_IN_PAUSE), 5);
}

static void pages_that_are_elsewhere_are_forgotten(void **state)
{
	struct scene *scene = *state;

	copies_prepare(scene->copies);
	get(scene, 1, COPIES_IN_PAUSE);
	nothing_new(scene);
	copies_forget(scene->copies);
	assert_int_equal(get(scene, 1, COPIES_RUNNING), -1);
	copies_begin(scene->copies, TIME + MS, 64);
	assert_int_equal(get(scene, 1, COPIES_RUNNING), -1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_was_looked_at_is_copied_again_in_a_pause),
		TEST(pages_of_the_last_pause_are_kept_for_a_while),
		TEST(a_pause_copies_nothing_that_was_not_looked_at),
		TEST(few_pages_are_copied_one_by_one_in_a_pause),
		TEST(a_round_copies_no_more_than_allowed),
		TEST(a_page_that_is_gone_is_dropped),
		TEST(pages_that_are_elsewhere_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
