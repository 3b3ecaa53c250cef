/* SPDX-License-Identifier: BSD-3-Clause */

/* Finding the threads of unikernels in a guest's memory; tests/kvm has guests that run.
 */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "record/threads/look.h"

#define PAGES	  256
#define SIZE	  (PAGES * GUEST_PAGE_SIZE)
#define LIST	  0x8000 /* of Mini-OS; Unikraft's first scheduler */
#define SCHED(i)  (LIST + 8 + (i)*0x200ull)
#define CURRENT	  0x8800
#define SWITCH	  0x9000
#define NAMES	  0xa000
#define THREAD(i) (0xb000 + (i)*0x200ull)
#define STACK(i)  (0x10000 + (i)*0x10000ull)
#define MOVE	  0x100 /* where the guest has the program */

static const struct fiber_layout layouts[] = {
	/* Another version's, which does not fit. */
	{
		.list = LIST - MOVE,
		.sched_list = 64,
		.sched_next = 120,
		.current = CURRENT - MOVE,
		.currents = 2,
		.switch_code = SWITCH - MOVE,
		.link = 168,
		.name = 160,
		.flags = 56,
		.sp = 8,
		.ip = 0,
		.stack = 88,
		.wakeup = 64,
		.runtime = 152,
		.runnable = 4,
		.exited = 8,
		.frame = {16, 15, 14, 13, 4, 6, 17},
	},
	{
		.list = LIST - MOVE,
		.sched_list = 72,
		.sched_next = 136,
		.current = CURRENT - MOVE,
		.currents = 2,
		.switch_code = SWITCH - MOVE,
		.link = 192,
		.name = 184,
		.flags = 64,
		.sp = 8,
		.ip = 0,
		.stack = 96,
		.wakeup = 72,
		.runtime = 176,
		.runnable = 8,
		.exited = 16,
		.frame = {16, 15, 14, 13, 4, 6, 17},
	},
};

static const struct fiber_layout mini_os = {
	.list = LIST - MOVE,
	.sched_list = FIBER_NONE,
	.sched_next = FIBER_NONE,
	.current = FIBER_NONE,
	.stack_size = 0x10000,
	.switch_code = SWITCH - MOVE,
	.link = 32,
	.name = 0,
	.flags = 48,
	.sp = 16,
	.ip = 24,
	.stack = 8,
	.wakeup = 56,
	.runtime = FIBER_NONE,
	.runnable = 1,
	.frame = {16, 15, 14, 13, 4, 6, 17},
};

static uint8_t memory[SIZE];
static unsigned int pages_read;
static uint64_t running; /* a word that grows whenever a stack is read; 0: none */

static void put(uint64_t address, uint64_t word)
{
	assert_true(address <= SIZE - 8);
	memcpy(memory + address, &word, sizeof(word));
}

static uint64_t get(uint64_t address)
{
	uint64_t word;

	memcpy(&word, memory + address, sizeof(word));
	return word;
}

static const void *page_of(void *context, uint64_t frame)
{
	(void)context;
	pages_read++;
	if (running && frame >= STACK(0) / GUEST_PAGE_SIZE)
		put(running, get(running) + 1);
	return frame < PAGES ? memory + frame * GUEST_PAGE_SIZE : NULL;
}

static void begin_pages(void *context, uint64_t now, unsigned int calls)
{
	(void)context, (void)now, (void)calls;
}

static const struct guest_ops ops = {
	.map_page = page_of,
	.get_page = page_of,
	.begin_pages = begin_pages,
	.are_pages_live = true,
};

struct scene {
	struct guest guest;
	struct guest_vcpu vcpu;
	struct learning learning;
	const struct fiber_layout *layout; /* the one that fits */
};

/* Appends a link to the list whose head is at @head. */
static void append(uint64_t head, uint64_t thread, uint64_t offset)
{
	uint64_t link = thread + offset, last = get(head + 8);

	put(link, 0);
	put(link + 8, last);
	put(last, thread);
	put(head + 8, link);
}

static void put_list(uint64_t head)
{
	put(head, 0);
	put(head + 8, head);
}

/* A thread that was switched out, in a function that was called by another one. */
static void put_thread(const struct fiber_layout *layout, unsigned int i,
		       const char *name, uint32_t flags)
{
	uint64_t thread = THREAD(i), sp = STACK(i) + 0xe000, text = NAMES + i * 32;

	put(thread + layout->name, text);
	strcpy((char *)memory + text, name);
	memcpy(memory + thread + layout->flags, &flags, sizeof(flags));
	put(thread + layout->sp, sp);
	put(thread + layout->ip, SWITCH + 0x30);
	put(thread + layout->stack, STACK(i));
	put(STACK(i), thread); /* Mini-OS */
	for (unsigned int word = 0; word < 5; word++)
		put(sp + word * 8, 0x100 * i + word);
	put(sp + 40, sp + 0x100); /* rbp */
	put(sp + 48, SWITCH + 0x205 + i);
	memory[SWITCH + 0x200 + i] = 0xe8; /* call */
	put(sp + 0x100, 0);
	put(sp + 0x108, SWITCH + 0x305);
}

static void open_scene(struct scene *scene, const struct fiber_layout *known,
		       size_t count)
{
	memset(memory, 0, sizeof(memory));
	running = 0;
	/* 1 GiB at its physical address */
	put(0x1000, 0x2001);
	put(0x2000, 0x81);
	scene->layout = &known[count - 1];
	scene->guest = (struct guest){.ops = &ops, .info.vcpus = 1, .vcpu = &scene->vcpu};
	scene->vcpu = (struct guest_vcpu){
		.captured = true,
		.cpu = {.family = CPU_FAMILY_X86,
			.x86 = {.cr0 = X86_CR0_PE | X86_CR0_PG,
				.cr3 = 0x1000,
				.cr4 = X86_CR4_PAE,
				.efer = X86_EFER_LMA}},
	};
	scene->learning = (struct learning){
		.guest = &scene->guest,
		.fibers = {.layouts = known, .count = count, .shift = MOVE},
	};
}

static int setup(void **state)
{
	static const char *const names[] = {"idle", "main", "a name of many letters",
					    "web"};
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	open_scene(scene, layouts, 2);
	put(LIST, SCHED(0));
	put_list(SCHED(0) + 72);
	for (unsigned int i = 0; i < 4; i++) {
		put_thread(scene->layout, i, names[i], i < 2 ? 8 : 0);
		append(SCHED(0) + 72, THREAD(i), scene->layout->link);
	}
	put(CURRENT, THREAD(1));
	*state = scene;
	return 0;
}

static int setup_mini_os(void **state)
{
	static const char *const names[] = {"Idle", "web", "main"};
	struct scene *scene = calloc(1, sizeof(*scene));

	assert_non_null(scene);
	open_scene(scene, &mini_os, 1);
	put_list(LIST);
	for (unsigned int i = 0; i < 3; i++) {
		put_thread(scene->layout, i, names[i], i == 2);
		append(LIST, THREAD(i), scene->layout->link);
	}
	*state = scene;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static void look(struct scene *scene, struct threads_seen *seen)
{
	struct error err;

	assert_int_equal(threads_look(&scene->learning, seen, &err), 0);
}

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
	assert_int_equal(one->chain.address[0], SWITCH + 0x205 + i);
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

static struct recording_process name_at(const struct scene *scene, uint64_t sp)
{
	struct thread_view view = {
		.memory = {.page = page_of},
		.cpu = scene->vcpu.cpu,
	};
	struct recording_process process = {.space = 0x1000};

	view.cpu.x86.reg[X86_RSP] = sp;
	assert_true(fibers_view(&scene->learning.fibers, &view));
	fiber_name(&view, 0, &process);
	return process;
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

static void lists_that_lead_elsewhere_are_broken(void **state)
{
	static const uint64_t places[] = {1,	     8,	       0x1000, LIST,  THREAD(1),
					  THREAD(3), SIZE - 8, SIZE,   ~0ull, 1ull << 63};
	static const uint64_t links[] = {
		SCHED(0) + 72,	 SCHED(0) + 136,  THREAD(0) + 192, THREAD(0) + 200,
		THREAD(1) + 192, THREAD(3) + 192, THREAD(3) + 200};
	struct scene *scene = *state;

	scene->learning.fibers = (struct fibers){&layouts[1], 1, MOVE};
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

	scene->learning.fibers = (struct fibers){&layouts[1], 1, MOVE};
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
		assert_in_range(pages_read, 0, 20000);
		name_at(scene, STACK(random_next(&seed) % 4) + 0xe000);
		if (round % 20 == 19) {
			free(scene);
			setup(state);
			scene = *state;
			scene->learning.fibers = (struct fibers){&layouts[1], 1, MOVE};
		}
	}
}

#define UNIKRAFT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define MINI_OS(test)  cmocka_unit_test_setup_teardown(test, setup_mini_os, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		UNIKRAFT(all_threads_are_found_with_their_chains),
		UNIKRAFT(threads_that_are_about_to_switch_are_not_read),
		UNIKRAFT(new_threads_have_only_a_start),
		UNIKRAFT(ended_threads_are_left_out),
		UNIKRAFT(threads_that_run_meanwhile_are_torn),
		UNIKRAFT(all_schedulers_have_threads),
		MINI_OS(the_last_thread_of_mini_os_runs),
		UNIKRAFT(samples_have_the_thread_of_their_stack),
		MINI_OS(mini_os_has_a_pointer_in_each_stack),
		UNIKRAFT(arm64_has_its_own_registers),
		UNIKRAFT(only_a_layout_that_fits_is_used),
		UNIKRAFT(lists_that_lead_elsewhere_are_broken),
		UNIKRAFT(a_walk_has_an_end),
		UNIKRAFT(random_memory_is_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
