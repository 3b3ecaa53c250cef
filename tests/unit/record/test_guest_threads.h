/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_RECORD_TEST_GUEST_THREADS_H
#define UNIPROF_TESTS_UNIT_RECORD_TEST_GUEST_THREADS_H

/* A made-up guest with threads in its memory. A file that includes this must define
 * _GNU_SOURCE first. */

#include "tests/unit/test_recording.h"

#include "base/clock.h"
#include "record/threads/linux.h"
#include "record/threads/look.h"
#include "record/threads/waits.h"
#include "tests/linux_layout.h"

#define PAGES	  256
#define DIRECT	  0xffff888000000000
#define IMAGE	  0xffffffff80000000
#define SHIFT	  ((uint64_t)0 - 0x1000000)
#define TOP	  0x1000 /* physical addresses of page tables */
#define DIRECT_1  0x2000
#define IMAGE_1	  0x3000
#define INIT	  (IMAGE + 0x7000)
#define TASK(i)	  (DIRECT + 0x8000 + (i)*0x1000ull)
#define SIGNAL(i) (DIRECT + 0x20000 + (i)*0x100ull)
#define MM	  (DIRECT + 0x24000)
#define STACK(i)  (DIRECT + 0x30000 + (i)*0x1000ull)

static const struct task_layout tasks = {.per_cpu = IMAGE, LINUX_TASKS};
static const struct thread_layout layout = {.init = INIT - SHIFT, LINUX_THREADS};

static uint8_t memory[PAGES * GUEST_PAGE_SIZE];
static uint64_t
	running; /* a task whose switches grow whenever its stack is read; 0: none */
static unsigned int pages_read;

static uint8_t *at(uint64_t address)
{
	uint64_t physical = address - (address >= IMAGE ? IMAGE : DIRECT);

	assert_true(physical < sizeof(memory));
	return memory + physical;
}

static void put(uint64_t address, uint64_t word)
{
	memcpy(at(address), &word, sizeof(word));
}

static inline void put_half(uint64_t address, uint32_t number)
{
	memcpy(at(address), &number, sizeof(number));
}

static inline void add(uint64_t address, uint64_t more)
{
	uint64_t word;

	memcpy(&word, at(address), sizeof(word));
	put(address, word + more);
}

static const void *page_of(void *context, uint64_t frame)
{
	(void)context;
	pages_read++;
	if (running && frame == (STACK(1) - DIRECT) / GUEST_PAGE_SIZE)
		add(running + layout.switches, 1);
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

/* A list of two links: @head and those of @tasks at the @offset. */
static inline void put_list(uint64_t head, uint64_t offset, const unsigned int *tasks_in,
			    unsigned int count)
{
	uint64_t last = head;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t link = TASK(tasks_in[i]) + offset;

		put(last, link);
		put(link + 8, last);
		last = link;
	}
	put(last, head);
	put(head + 8, last);
}

static inline void put_task(unsigned int i, unsigned int leader, uint64_t mm,
			    const char *comm)
{
	uint64_t task = TASK(i), sp = STACK(i) + 0x800;

	put_half(task + layout.pid, 100 + i);
	put_half(task + tasks.tgid, 100 + leader);
	put_half(task + layout.state, 1);
	put(task + tasks.group_leader, TASK(leader));
	put(task + tasks.mm, mm);
	put(task + layout.signal, SIGNAL(leader));
	put(task + layout.switches, 7);
	put(task + layout.preemptions, 1);
	put(task + layout.ran, 1000 * i);
	strcpy((char *)at(task + tasks.comm), comm);
	put(task + layout.sp, sp);
	put(sp + layout.return_address, IMAGE + 0x5010 + i);
	put(sp + layout.bp, sp + 0x100);
	put(sp + layout.r12, 0x1212);
	put(sp + 0x100, 0);
	put(sp + 0x108, IMAGE + 0x5020);
}

/* What is known of the guest. Tasks 0 and 1 are of one process, 2 is of the kernel, 3 of
 * another process. */
struct scene {
	struct guest guest;
	struct guest_vcpu vcpu;
	struct learning learning;
	struct thread_view view;
};

static inline int setup(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	const unsigned int leaders[] = {0, 2, 3}, threads[] = {0, 1}, kernel[] = {2},
			   other[] = {3};

	assert_non_null(scene);
	memset(memory, 0, sizeof(memory));
	running = 0;
	/* For x86-64 and arm64 */
	put(DIRECT + TOP + 8 * 273, DIRECT_1 | 3);
	put(DIRECT + TOP + 8 * 511, IMAGE_1 | 3);
	put(DIRECT + DIRECT_1, 0x81);
	put(DIRECT + IMAGE_1 + 8 * 510, 0x81);
	put_task(0, 0, MM, "nginx");
	put_task(1, 0, MM, "worker");
	put_task(2, 2, 0, "kworker/0:1");
	put_task(3, 3, MM, "redis");
	put_half(TASK(2) + layout.state, 0x402);
	put(MM + tasks.pgd, DIRECT + TOP);
	put_list(INIT + layout.tasks, layout.tasks, leaders, 3);
	put_list(SIGNAL(0) + layout.thread_head, layout.thread_node, threads, 2);
	put_list(SIGNAL(2) + layout.thread_head, layout.thread_node, kernel, 1);
	put_list(SIGNAL(3) + layout.thread_head, layout.thread_node, other, 1);
	scene->guest = (struct guest){.ops = &ops, .info.vcpus = 1, .vcpu = &scene->vcpu};
	scene->vcpu = (struct guest_vcpu){.captured = true,
					  .cpu = {.family = CPU_FAMILY_X86,
						  .x86 = {.cr0 = X86_CR0_PE | X86_CR0_PG,
							  .cr4 = X86_CR4_PAE,
							  .efer = X86_EFER_LMA,
							  .cs = 0x33,
							  .cr3 = TOP}}};
	scene->learning.guest = &scene->guest;
	scene->learning.tasks = (struct tasks){
		.layout = &tasks, .threads = &layout, .shift = SHIFT};
	assert_true(thread_view_open(&scene->view, &scene->learning));
	*state = scene;
	return 0;
}

static inline int teardown(void **state)
{
	free(*state);
	return 0;
}

#endif
