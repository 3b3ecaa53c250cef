/* SPDX-License-Identifier: BSD-3-Clause */

/* Finding the threads of unikernels in a guest's memory; tests/kvm has guests that run.
 */

#define _GNU_SOURCE 1
#include "base/clock.h"
#include "tests/unit/record/test_guest_fibers.h"

static void check_thread(const struct threads_seen *seen, unsigned int i,
			 const char *name, enum wait_state state)
{
	const struct thread_seen *one = &seen->list[i];
	const struct recording_process *process = &one->wait.process;

	assert_int_equal(one->kind, THREAD_READ);
	assert_int_equal(one->thread.task, THREAD(i));
	assert_int_equal(process->tid, THREAD(i) >> 3);
	assert_int_equal(process->pid, 0);
	assert_int_equal(process->space, 0x1000);
	assert_string_equal(process->thread, name);
	assert_int_equal(one->wait.state, state);
	assert_int_equal(one->wait.cpu.x86.reg[15], 0x100 * i);
	assert_int_equal(one->wait.cpu.x86.reg[3], 0x100 * i + 4);
	assert_int_equal(one->wait.cpu.x86.reg[X86_RSP], STACK(i) + 0xe000 + 56);
	assert_int_equal(one->chain.count, 2);
	assert_int_equal(one->chain.address[0], SWITCH + 0x205 + 16 * i);
	assert_int_equal(one->chain.address[1], SWITCH + 0x305);
	assert_int_equal(one->ran, 0);
}

static void all_threads_are_found_with_their_chains(void **state)
{
	struct threads_seen seen;

	look(*state, &seen);
	assert_true(seen.is_full);
	assert_int_equal(seen.count, 4);
	check_thread(&seen, 0, "idle", WAIT_IDLE);
	assert_int_equal(seen.list[1].kind, THREAD_RUNS);
	check_thread(&seen, 2, "a name of many ", WAIT_SLEEPING);
	check_thread(&seen, 3, "web", WAIT_SLEEPING);
	threads_seen_free(&seen);

	/* Another CPU may run one. */
	put(CURRENT + 8, THREAD(3));
	put(CURRENT, 0);
	look(*state, &seen);
	check_thread(&seen, 1, "main", WAIT_RUNNABLE);
	assert_int_equal(seen.list[3].kind, THREAD_RUNS);
	threads_seen_free(&seen);
}

/* Another thread is the current one a moment before the registers are saved. */
static void threads_that_are_about_to_switch_are_not_read(void **state)
{
	static const uint64_t addresses[] = {0, 0x12000, SWITCH + 0x1f0,
					     0xffffffff80000000};
	struct scene *scene = *state;
	struct thread_moment before, after;
	struct threads_seen seen;
	struct thread_view view;

	assert_true(thread_view_open(&view, &scene->learning));
	assert_true(thread_read_moment(&view, THREAD(3), &before));
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++) {
		put(STACK(3) + 0xe000 + 48, addresses[i]);
		look(scene, &seen);
		assert_int_equal(seen.list[3].kind, THREAD_UNREAD);
		threads_seen_free(&seen);
		assert_true(thread_read_moment(&view, THREAD(3), &after));
		assert_false(thread_is_same(&before, &after));
	}
}

static void new_threads_have_only_a_start(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;

	put(THREAD(3) + scene->layout->ip, SWITCH - 0x20);
	look(scene, &seen);
	assert_int_equal(seen.list[3].kind, THREAD_READ);
	assert_int_equal(seen.list[3].chain.count, 1);
	assert_int_equal(seen.list[3].chain.address[0], SWITCH - 0x20);
	assert_int_equal(seen.list[3].chain.end, CHAIN_WHOLE);
	threads_seen_free(&seen);
}

static void ended_threads_are_left_out(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;

	put(THREAD(2) + scene->layout->flags, 16);
	look(scene, &seen);
	assert_int_equal(seen.count, 3);
	threads_seen_free(&seen);
}

static void threads_that_run_meanwhile_are_torn(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;

	running = THREAD(2) + scene->layout->runtime;
	look(scene, &seen);
	assert_int_equal(seen.list[2].kind, THREAD_TORN);
	assert_int_equal(seen.list[3].kind, THREAD_READ);
	threads_seen_free(&seen);
}

/* Mini-OS does not count switches: a chain that changes tells. */
static void threads_with_changing_chains_are_torn(void **state)
{
	struct threads_seen seen;

	running = STACK(1) + 0xe108;
	look(*state, &seen);
	assert_int_equal(seen.list[0].kind, THREAD_READ);
	assert_int_equal(seen.list[1].kind, THREAD_TORN);
	threads_seen_free(&seen);
}

/* Mini-OS: what a thread has left from its last wait is no frame of the switch, while it
 * runs. */
static void threads_after_another_call_are_not_read(void **state)
{
	struct threads_seen seen;

	/* A call to another function than the one that switches */
	memory[SWITCH + 0x211]++;
	look(*state, &seen);
	assert_int_equal(seen.list[0].kind, THREAD_READ);
	assert_int_equal(seen.list[1].kind, THREAD_UNREAD);
	threads_seen_free(&seen);
}

static void all_schedulers_have_threads(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;

	/* The second one is empty, the third one has a thread. */
	put(SCHED(0) + 136, SCHED(1));
	put_list(SCHED(1) + 72);
	put(SCHED(1) + 136, SCHED(2));
	put_list(SCHED(2) + 72);
	put_thread(scene->layout, 4, "other", 0);
	append(SCHED(2) + 72, THREAD(4), scene->layout->link);
	look(scene, &seen);
	assert_true(seen.is_full);
	assert_int_equal(seen.count, 5);
	check_thread(&seen, 4, "other", WAIT_SLEEPING);
	threads_seen_free(&seen);

	/* A circle of schedulers, with a thread and without. */
	put(SCHED(2) + 136, SCHED(1));
	pages_read = 0;
	look(scene, &seen);
	assert_false(seen.is_full);
	assert_in_range(seen.count, 5, THREADS_MAX);
	threads_seen_free(&seen);
	put_list(SCHED(2) + 72);
	look(scene, &seen);
	assert_false(seen.is_full);
	assert_int_equal(seen.count, 4);
	threads_seen_free(&seen);
}

static void the_last_thread_of_mini_os_runs(void **state)
{
	struct scene *scene = *state;
	struct threads_seen seen;

	look(scene, &seen);
	assert_true(seen.is_full);
	assert_int_equal(seen.count, 3);
	check_thread(&seen, 0, "Idle", WAIT_IDLE);
	check_thread(&seen, 1, "web", WAIT_SLEEPING);
	assert_int_equal(seen.list[2].kind, THREAD_RUNS);
	threads_seen_free(&seen);

	/* It may have started others, of which the last one may run. */
	put_thread(scene->layout, 3, "new", 1);
	put(THREAD(3) + scene->layout->ip, SWITCH - 0x20);
	append(LIST, THREAD(3), scene->layout->link);
	look(scene, &seen);
	assert_int_equal(seen.list[1].kind, THREAD_READ);
	assert_int_equal(seen.list[2].kind, THREAD_RUNS);
	assert_int_equal(seen.list[3].kind, THREAD_RUNS);
	threads_seen_free(&seen);

	/* Nothing counts how long threads run: what is on the stack tells. */
	running = STACK(1) + 0xe000 + 40;
	look(scene, &seen);
	assert_int_equal(seen.list[1].kind, THREAD_TORN);
	threads_seen_free(&seen);
}

/* Mini-OS moves a thread that runs to the end of its list. */
static void run_first_after_idle(void)
{
	const uint64_t link = mini_os.link, idle = THREAD(0) + link;
	const uint64_t thread = get(idle), next = get(thread + link);

	put(idle, next);
	put(next + link + 8, idle);
	append(LIST, thread, link);
}

/* Three threads in turn: 1 2 3, or 2 3 1, or both within a walk, where the end of the one
 * follows the start of the other. */
static void three_threads_take_turns(void)
{
	static const unsigned int runs[] = {0, 1, 0, 2};
	static unsigned int times;

	for (unsigned int i = 0; i < runs[times % 4]; i++)
		run_first_after_idle();
	times++;
}

static void threads_that_move_are_not_passed_over(void **state)
{
	struct scene *scene = *state;

	put_thread(scene->layout, 3, "third", 1);
	append(LIST, THREAD(3), scene->layout->link);
	guest_runs = three_threads_take_turns;
	for (unsigned int i = 0; i < 16; i++) {
		struct threads_seen seen;

		look(scene, &seen);
		assert_true(seen.is_full);
		assert_int_equal(seen.count, 4);
		threads_seen_free(&seen);
	}
}

static void samples_have_the_thread_of_their_stack(void **state)
{
	struct scene *scene = *state;
	struct recording_process process = name_at(scene, STACK(1) + 0xd000);

	assert_string_equal(process.thread, "main");
	assert_int_equal(process.tid, THREAD(1) >> 3);
	assert_int_equal(process.space, 0x1000);
	assert_string_equal(name_at(scene, STACK(1)).thread, "main");
	assert_string_equal(name_at(scene, STACK(1) + 0xe800).thread, "main");
	/* The guest has gone on to another thread, or handles an interrupt. */
	assert_int_equal(name_at(scene, STACK(2) + 0xd000).tid, 0);
	assert_int_equal(name_at(scene, STACK(0) + 0xe000).tid, 0);
	assert_int_equal(name_at(scene, 0).tid, 0);
	put(CURRENT, 0);
	assert_int_equal(name_at(scene, STACK(1) + 0xd000).tid, 0);
	/* The first thread's stack is not its own. */
	put(CURRENT, THREAD(1));
	put(THREAD(1) + scene->layout->stack, 0);
	assert_string_equal(name_at(scene, STACK(1) + 0xd000).thread, "main");
}

static void mini_os_has_a_pointer_in_each_stack(void **state)
{
	const struct scene *scene = *state;

	assert_string_equal(name_at(scene, STACK(1) + 0x123).thread, "web");
	assert_string_equal(name_at(scene, STACK(2) + 0xfff8).thread, "main");
	assert_int_equal(name_at(scene, STACK(8)).tid, 0);
	put(STACK(1), THREAD(2));
	assert_int_equal(name_at(scene, STACK(1) + 0x123).tid, 0);
}

static void arm64_has_its_own_registers(void **state)
{
	struct fiber_layout layout = layouts[1];
	const uint64_t sp = STACK(2) + 0xe000;
	struct scene *scene = *state;
	struct thread_view view;
	struct thread thread = {.task = THREAD(2)};
	struct thread_wait wait;

	for (uint64_t i = 0; i < 12; i++) {
		layout.frame[i] = 19 + i + 1;
		put(sp + i * 8, 0x1900 + i);
	}
	layout.frame[12] = layout.frame[13] = FIBER_SKIP;
	put(sp + 11 * 8, SWITCH + 0x404);
	memcpy(memory + SWITCH + 0x400, "\0\0\0\x94", 4); /* bl */
	scene->learning.fibers.layouts = &layout;
	scene->learning.fibers.count = 1;
	scene->vcpu.cpu = (struct cpu){.family = CPU_FAMILY_ARM};
	assert_true(thread_view_open(&view, &scene->learning));
	assert_true(thread_read_moment(&view, thread.task, &thread.moment));
	assert_true(thread_waits(&thread.moment));
	assert_true(thread_read_wait(&view, &thread, &wait));
	for (uint64_t i = 0; i < 11; i++)
		assert_int_equal(wait.cpu.arm.x[19 + i], 0x1900 + i);
	assert_int_equal(wait.cpu.arm.x[30], SWITCH + 0x404);
	assert_int_equal(wait.cpu.arm.pc, SWITCH + 0x404);
	assert_int_equal(wait.cpu.arm.sp_el1, sp + 14 * 8);
	assert_false(wait.is_new);
}

static void only_a_layout_that_fits_is_used(void **state)
{
	struct scene *scene = *state;
	struct thread_view view;

	assert_true(thread_view_open(&view, &scene->learning));
	assert_ptr_equal(view.fibers, &layouts[1]);
	/* Unprintable, or no address at all. */
	memory[NAMES] = 3;
	assert_false(thread_view_open(&view, &scene->learning));
	memory[NAMES] = 'i';
	put(THREAD(2) + 184, 0xffffffff80000000);
	assert_false(thread_view_open(&view, &scene->learning));
	/* Threads need no name. */
	put(THREAD(2) + 184, 0);
	assert_true(thread_view_open(&view, &scene->learning));
	/* There are no threads yet. */
	put(LIST, 0);
	assert_false(thread_view_open(&view, &scene->learning));
}

static void a_layout_that_fits_is_kept_for_a_while(void **state)
{
	struct scene *scene = *state;
	struct fibers *fibers = &scene->learning.fibers;
	struct thread_view view;

	assert_true(thread_view_open(&view, &scene->learning));
	assert_true(fibers_view_recent(fibers, NS_PER_S, &view));
	assert_ptr_equal(view.fibers, &layouts[1]);
	memory[NAMES] = 3;
	assert_true(fibers_view_recent(fibers, 2 * NS_PER_S, &view));
	assert_ptr_equal(view.fibers, &layouts[1]);
	assert_int_equal(view.shift, MOVE);
	assert_false(fibers_view_recent(fibers, 2 * NS_PER_S + 1, &view));
	/* What does not fit is looked at again each time. */
	memory[NAMES] = 'i';
	assert_true(fibers_view_recent(fibers, 2 * NS_PER_S + 2, &view));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIKRAFT(all_threads_are_found_with_their_chains),
		UNIKRAFT(threads_that_are_about_to_switch_are_not_read),
		UNIKRAFT(new_threads_have_only_a_start),
		UNIKRAFT(ended_threads_are_left_out),
		UNIKRAFT(threads_that_run_meanwhile_are_torn),
		MINI_OS(threads_with_changing_chains_are_torn),
		MINI_OS(threads_after_another_call_are_not_read),
		UNIKRAFT(all_schedulers_have_threads),
		MINI_OS(the_last_thread_of_mini_os_runs),
		MINI_OS(threads_that_move_are_not_passed_over),
		UNIKRAFT(samples_have_the_thread_of_their_stack),
		MINI_OS(mini_os_has_a_pointer_in_each_stack),
		UNIKRAFT(arm64_has_its_own_registers),
		UNIKRAFT(only_a_layout_that_fits_is_used),
		UNIKRAFT(a_layout_that_fits_is_kept_for_a_while),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
