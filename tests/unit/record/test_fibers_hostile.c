/* SPDX-License-Identifier: BSD-3-Clause */

/* Unikernels whose threads make no sense. */

#define _GNU_SOURCE 1
#include "tests/unit/record/test_guest_fibers.h"

static void lists_that_lead_elsewhere_are_broken(void **state)
{
	static const uint64_t places[] = {1,	     8,	       0x1000, LIST,  THREAD(1),
					  THREAD(3), SIZE - 8, SIZE,   ~0ull, 1ull << 63};
	static const uint64_t links[] = {
		SCHED(0) + 72,	 SCHED(0) + 136,  THREAD(0) + 192, THREAD(0) + 200,
		THREAD(1) + 192, THREAD(3) + 192, THREAD(3) + 200};
	struct scene *scene = *state;

	scene->learning.fibers = (struct fibers){
		.layouts = &layouts[1], .count = 1, .shift = MOVE};
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
			uint64_t before = get(links[i]);
			struct threads_seen seen;

			if (places[j] == before)
				continue;
			put(links[i], places[j]);
			look(scene, &seen);
			assert_in_range(seen.count, 0, 4);
			/* There is no telling that there are more schedulers. */
			assert_true(!seen.is_full || i == 1);
			threads_seen_free(&seen);
			put(links[i], before);
		}
}

/* Threads that overlap: more than a guest can have otherwise. */
static void a_walk_has_an_end(void **state)
{
	const struct fiber_layout layout = {
		.list = LIST,
		.sched_list = FIBER_NONE,
		.sched_next = FIBER_NONE,
		.current = CURRENT,
		.currents = 1,
		.switch_code = SWITCH,
		.wakeup = FIBER_NONE,
		.runtime = FIBER_NONE,
	};
	struct thread_view view = {.memory = {.page = page_of}, .fibers = &layout};
	struct thread_walk walk = {0};
	struct thread thread;
	enum walk_step end;

	view.cpu = ((struct scene *)*state)->vcpu.cpu;
	put_list(LIST);
	for (uint64_t i = 0; i < THREADS_MAX + 100; i++)
		append(LIST, 0x10000 + i * 16, 0);
	while ((end = thread_walk_step(&walk, &view, &thread)) == WALK_THREAD)
		;
	assert_int_equal(end, WALK_BROKEN);
	assert_int_equal(walk.threads, THREADS_MAX + 1);
}

/* Whatever a guest has in its memory, looking at it ends, within the memory. */
static void random_memory_is_safe(void **state)
{
	struct scene *scene = *state;
	uint64_t seed = 1;

	scene->learning.fibers = (struct fibers){
		.layouts = &layouts[1], .count = 1, .shift = MOVE};
	for (unsigned int round = 0; round < 300; round++) {
		uint64_t address = LIST + random_next(&seed) % 0x4000 / 8 * 8;
		struct threads_seen seen;

		put(address, random_next(&seed) & 1
				     ? LIST + random_next(&seed) % 0x20000
				     : random_next(&seed) >> random_next(&seed) % 64);
		if (round % 3 == 0)
			put(THREAD(round % 4) + random_next(&seed) % 32 * 8,
			    LIST + random_next(&seed) % 0x8000 / 8 * 8);
		pages_read = 0;
		look(scene, &seen);
		threads_seen_free(&seen);
		assert_in_range(pages_read, 0, 200000);
		name_at(scene, STACK(random_next(&seed) % 4) + 0xe000);
		if (round % 20 == 19) {
			free(scene);
			setup(state);
			scene = *state;
			scene->learning.fibers = (struct fibers){
				.layouts = &layouts[1], .count = 1, .shift = MOVE};
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIKRAFT(lists_that_lead_elsewhere_are_broken),
		UNIKRAFT(a_walk_has_an_end),
		UNIKRAFT(random_memory_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
