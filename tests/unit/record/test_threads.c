/* SPDX-License-Identifier: BSD-3-Clause */

/* Finding threads in a guest's memory; the lab has real ones. */

#define _GNU_SOURCE 1
#include "tests/unit/record/test_guest_threads.h"

static unsigned int count_threads(const struct scene *scene, enum walk_step *end)
{
	struct thread_walk walk = {0};
	unsigned int count = 0;
	struct thread thread;

	while ((*end = thread_walk_step(&walk, &scene->view, &thread)) == WALK_THREAD) {
		assert_true(thread_walk_holds(&walk, &scene->view));
		count++;
	}
	return count;
}

static void all_threads_are_found_with_their_chains(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;
	struct error err;

	assert_int_equal(threads_look(&scene->learning, &seen, &err), 0);
	assert_true(seen.is_full);
	assert_int_equal(seen.count, 4);
	assert_int_equal(seen.now, 3000);
	for (unsigned int i = 0; i < 4; i++) {
		const struct thread_seen *one = &seen.list[i];
		const struct recording_process *process = &one->wait.process;
		static const char *const names[] = {"nginx", "worker", "kworker/0:1",
						    "redis"};

		assert_int_equal(one->kind, THREAD_READ);
		assert_int_equal(one->thread.tid, 100 + i);
		assert_int_equal(one->thread.moment.switches, 8);
		assert_int_equal(process->tid, 100 + i);
		assert_int_equal(process->pid, i == 1 ? 100 : 100 + i);
		assert_string_equal(process->thread, names[i]);
		assert_string_equal(process->comm, names[i == 1 ? 0 : i]);
		assert_int_equal(process->space, i == 2 ? 0 : TOP);
		assert_int_equal(one->wait.state, i == 2 ? WAIT_IDLE : WAIT_SLEEPING);
		assert_int_equal(one->wait.cpu.x86.reg[12], 0x1212);
		assert_int_equal(one->chain.count, 2);
		assert_int_equal(one->chain.address[0], IMAGE + 0x5010 + i);
		assert_int_equal(one->chain.address[1], IMAGE + 0x5020);
	}
	threads_seen_free(&seen);
}

static void arm64_has_registers_in_the_task(void **state)
{
	struct scene *scene = *state;
	struct thread_layout arm64 = layout;
	struct threads_seen seen;
	const struct thread_seen *one;
	struct error err;

	arm64.bx = 0x200;
	arm64.bp = 0x250;
	arm64.sp = 0x258;
	arm64.return_address = 0x260;
	scene->learning.tasks.threads = &arm64;
	scene->vcpu.cpu = (struct cpu){
		.family = CPU_FAMILY_ARM,
		/* Arm ARM, D17.2.131: T0SZ and T1SZ of 48 bits, TG1 of 4 KiB */
		.arm = {.cpsr = 5,
			.sctlr = ARM_SCTLR_M,
			.tcr = 16 | 16 << 16 | 2ull << 30,
			.ttbr1 = TOP},
	};
	for (unsigned int i = 0; i < 4; i++) {
		for (unsigned int j = 0; j < 10; j++)
			put(TASK(i) + arm64.bx + j * 8, 0x1900 + j);
		put(TASK(i) + arm64.bp, STACK(i) + 0x900);
		put(TASK(i) + arm64.sp, STACK(i) + 0x800);
		put(TASK(i) + arm64.return_address, IMAGE + 0x5014);
		put(STACK(i) + 0x900, 0);
		put(STACK(i) + 0x908, IMAGE + 0x5020 + i * 4);
	}
	assert_int_equal(threads_look(&scene->learning, &seen, &err), 0);
	assert_true(seen.is_full);
	assert_int_equal(seen.count, 4);
	for (unsigned int i = 0; i < 4; i++) {
		one = &seen.list[i];
		assert_int_equal(one->kind, THREAD_READ);
		assert_int_equal(one->wait.cpu.arm.x[19], 0x1900);
		assert_int_equal(one->wait.cpu.arm.x[28], 0x1909);
		assert_int_equal(one->wait.cpu.arm.sp_el1, STACK(i) + 0x800);
		assert_int_equal(one->wait.process.space, i == 2 ? 0 : TOP);
		assert_int_equal(one->wait.cpu.arm.ttbr0, i == 2 ? 0 : TOP);
		assert_int_equal(one->chain.count, 2);
		assert_int_equal(one->chain.address[0], IMAGE + 0x5014);
		assert_int_equal(one->chain.address[1], IMAGE + 0x5020 + i * 4);
	}
	threads_seen_free(&seen);
	/* In user mode, there may be page tables that lack the kernel. */
	scene->vcpu.cpu.arm.ttbr1 = 0x5000;
	assert_int_equal(threads_look(&scene->learning, &seen, &err), -1);
}

static void states_are_those_of_the_kernel(void **state)
{
	static const struct {
		uint32_t bits;
		uint8_t state;
	} known[] = {
		{0, WAIT_RUNNABLE},	   {1, WAIT_SLEEPING},
		{2, WAIT_UNINTERRUPTIBLE}, {0x102, WAIT_UNINTERRUPTIBLE},
		{0x402, WAIT_IDLE},	   {0x40, WAIT_IDLE},
		{0x4, WAIT_STOPPED},	   {0x108, WAIT_STOPPED},
		{0x2001, WAIT_SLEEPING},   {0x200, WAIT_UNKNOWN},
	};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		struct thread thread = {.task = TASK(3), .tid = 103};
		struct thread_wait wait;

		put_half(TASK(3) + layout.state, known[i].bits);
		assert_true(thread_read_moment(&scene->view, TASK(3), &thread.moment));
		assert_true(thread_read_wait(&scene->view, &thread, &wait));
		assert_int_equal(wait.state, known[i].state);
	}
	put_half(TASK(3) + layout.on_cpu, 1);
	put_half(TASK(1) + layout.exit_state, 32);
	for (unsigned int i = 1; i < 4; i += 2) {
		struct thread_moment moment;

		assert_true(thread_read_moment(&scene->view, TASK(i), &moment));
		assert_false(thread_waits(&moment));
	}
}

static void lists_that_lead_in_circles_end(void **state)
{
	struct scene *scene = *state;
	enum walk_step end;

	assert_int_equal(count_threads(scene, &end), 4);
	assert_int_equal(end, WALK_DONE);
	put(TASK(1) + layout.thread_node, TASK(0) + layout.thread_node);
	put(TASK(0) + layout.thread_node + 8, TASK(1) + layout.thread_node);
	assert_int_equal(count_threads(scene, &end), THREADS_MAX);
	assert_int_equal(end, WALK_BROKEN);
}

static void lists_that_lead_elsewhere_are_broken(void **state)
{
	static const uint64_t places[] = {0,
					  8,
					  0x1000,
					  DIRECT,
					  IMAGE,
					  INIT,
					  DIRECT + 0x7777,
					  MM,
					  ~0ull,
					  1ull << 63,
					  DIRECT + ((uint64_t)PAGES << 12)};
	static const uint64_t links[] = {INIT + 0x20, TASK(0) + 0x40, TASK(1) + 0x40,
					 SIGNAL(0) + 0x10, TASK(0) + 0x60};
	struct scene *scene = *state;

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		for (size_t j = 0; j < sizeof(places) / sizeof(places[0]); j++) {
			struct thread_walk walk = {0};
			struct thread thread;
			uint64_t before;
			enum walk_step end;

			memcpy(&before, at(links[i]), sizeof(before));
			put(links[i], places[j]);
			while ((end = thread_walk_step(&walk, &scene->view, &thread)) ==
			       WALK_THREAD)
				;
			assert_true(end == WALK_BROKEN || walk.threads <= 4);
			put(links[i], before);
		}
}

/* Whatever a guest has in its tasks, looking at them ends, within the memory. */
static void random_memory_is_safe(void **state)
{
	struct scene *scene = *state;
	uint64_t seed = 1;

	for (unsigned int round = 0; round < 200; round++) {
		struct threads_seen seen;
		struct error err;
		uint64_t address = DIRECT + 0x7000 +
				   random_next(&seed) % (sizeof(memory) - 0x7000) / 8 * 8;

		put(address, random_next(&seed) & 1
				     ? DIRECT + random_next(&seed) % sizeof(memory)
				     : random_next(&seed) >> random_next(&seed) % 64);
		if (round % 3 == 0)
			put(TASK(round % 4) + random_next(&seed) % 32 * 8,
			    DIRECT + random_next(&seed) % sizeof(memory) / 8 * 8);
		pages_read = 0;
		if (round % 50 == 0) {
			setup(state);
			free(scene);
			scene = *state;
		}
		if (threads_look(&scene->learning, &seen, &err) == 0)
			threads_seen_free(&seen);
		assert_in_range(pages_read, 0, 100u * THREADS_MAX * 5);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_threads_are_found_with_their_chains,
						setup, teardown),
		cmocka_unit_test_setup_teardown(arm64_has_registers_in_the_task, setup,
						teardown),
		cmocka_unit_test_setup_teardown(states_are_those_of_the_kernel, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lists_that_lead_in_circles_end, setup,
						teardown),
		cmocka_unit_test_setup_teardown(lists_that_lead_elsewhere_are_broken,
						setup, teardown),
		cmocka_unit_test_setup_teardown(random_memory_is_safe, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
