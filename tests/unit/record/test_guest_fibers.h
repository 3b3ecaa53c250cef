/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_RECORD_TEST_GUEST_FIBERS_H
#define UNIPROF_TESTS_UNIT_RECORD_TEST_GUEST_FIBERS_H

/* Made-up guests with threads like Unikraft's and Mini-OS's in their memory. A file that
 * includes this must define _GNU_SOURCE first. */

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
/* Called whenever pages are read anew; NULL: the guest stands still. */
static void (*guest_runs)(void);

static inline void put(uint64_t address, uint64_t word)
{
	assert_true(address <= SIZE - 8);
	memcpy(memory + address, &word, sizeof(word));
}

static inline uint64_t get(uint64_t address)
{
	uint64_t word;

	memcpy(&word, memory + address, sizeof(word));
	return word;
}

static inline const void *page_of(void *context, uint64_t frame)
{
	(void)context;
	pages_read++;
	if (running && frame >= STACK(0) / GUEST_PAGE_SIZE)
		put(running, get(running) + 1);
	return frame < PAGES ? memory + frame * GUEST_PAGE_SIZE : NULL;
}

static inline void begin_pages(void *context, uint64_t now, unsigned int calls)
{
	(void)context, (void)now, (void)calls;
	if (guest_runs)
		guest_runs();
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
static inline void append(uint64_t head, uint64_t thread, uint64_t offset)
{
	uint64_t link = thread + offset, last = get(head + 8);

	put(link, 0);
	put(link + 8, last);
	put(last, thread);
	put(head + 8, link);
}

static inline void put_list(uint64_t head)
{
	put(head, 0);
	put(head + 8, head);
}

/* A thread that was switched out, in a function that was called by another one. */
static inline void put_thread(const struct fiber_layout *layout, unsigned int i,
			      const char *name, uint32_t flags)
{
	uint64_t thread = THREAD(i), sp = STACK(i) + 0xe000, text = NAMES + i * 32;
	int32_t distance = -(int32_t)(0x205 + 16 * i); /* to SWITCH */

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
	put(sp + 48, SWITCH + 0x205 + 16 * i);
	memory[SWITCH + 0x200 + 16 * i] = 0xe8; /* call */
	memcpy(memory + SWITCH + 0x201 + 16 * i, &distance, sizeof(distance));
	put(sp + 0x100, 0);
	put(sp + 0x108, SWITCH + 0x305);
}

static inline void open_scene(struct scene *scene, const struct fiber_layout *known,
			      size_t count)
{
	memset(memory, 0, sizeof(memory));
	running = 0;
	guest_runs = NULL;
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

static inline int setup(void **state)
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

static inline int setup_mini_os(void **state)
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

static inline int teardown(void **state)
{
	free(*state);
	return 0;
}

static inline void look(struct scene *scene, struct threads_seen *seen)
{
	struct error err;

	assert_int_equal(threads_look(&scene->learning, seen, &err), 0);
}

static inline struct recording_process name_at(const struct scene *scene, uint64_t sp)
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

#define UNIKRAFT(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
#define MINI_OS(test)  cmocka_unit_test_setup_teardown(test, setup_mini_os, teardown)

#endif
