/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Linux guests with arbitrary threads and mappings. The first 16 frames, of 4 KiB, are
 * mapped to all addresses of the kernel again and again. The input is the guest's memory:
 * words of 8 bytes, each after 2 bytes with its position (the rest is 0).
 */

#include "record/linux/mappings.h"
#include "record/threads/linux.h"
#include "tests/fuzz/guest.h"
#include "tests/linux_layout.h"

#define KERNEL 0xffffffff80000000

/* A walk through a circle has many more. */
#define THREADS 40

static const struct task_layout tasks = {LINUX_TASKS};
static const struct thread_layout threads = {.init = KERNEL, LINUX_THREADS};

/* As in fuzz_modules.c: all entries of each table lead to the same next one, and those of
 * the last to the frames in turn. */
static const void *page(void *context, uint64_t frame)
{
	static uint64_t table[GUEST_PAGE_SIZE / 8];
	const uint64_t first = 0x1000;

	if (frame < first || frame > first + 3)
		return guest_page(context, frame);
	for (uint64_t i = 0; i < GUEST_PAGE_SIZE / 8; i++)
		table[i] = (frame == first + 3 ? i % FRAMES : frame + 1)
				   << GUEST_PAGE_SHIFT |
			   1;
	return table;
}

static void look_at(const struct thread_view *view, const struct thread *thread)
{
	struct thread_wait wait;

	check(thread->tid != 0);
	if (!thread_read_wait(view, thread, &wait))
		return;
	check(wait.state < WAIT_STATES);
	check(wait.process.tid == thread->tid);
	check(strnlen(wait.process.comm, RECORDING_COMM) < RECORDING_COMM);
	check(strnlen(wait.process.thread, RECORDING_COMM) < RECORDING_COMM);
	check(wait.process.space % GUEST_PAGE_SIZE == 0);
}

/* Offsets are small, so that all structs are in the few frames. */
#define MAPPING_MEMBERS                                                            \
	.root = 8, .end = 8, .flags = 0x10, .pgoff = 0x18, .file = 0x20, .mnt = 8, \
	.parent = 8, .name = 0x10, .vfsmount = 0x10, .mountpoint = 8

static const struct mapping_layout layouts[] = {
	{.order = MAPPINGS_IN_LIST, .next = 0x28, MAPPING_MEMBERS},
	{.order = MAPPINGS_IN_TREE,
	 .pivot = 8,
	 .slot = 0x80,
	 .wide_pivot = 8,
	 .wide_slot = 0x50,
	 MAPPING_MEMBERS},
};

static void read_mappings(const struct thread_view *threads_view)
{
	static struct process_mappings mappings;

	for (size_t i = 0; i < 2; i++) {
		struct mapping_view view = {
			.cpu = &threads_view->cpu,
			.memory = &threads_view->memory,
			.layout = &layouts[i],
			.left = MAPPING_PIECES,
		};

		mappings_read(&view, KERNEL, &mappings);
		check(mappings.count <= MAPPINGS_MAX);
		check(mappings.text_size <= sizeof(mappings.text));
		for (size_t j = 0; j < mappings.count; j++) {
			const struct mapping *mapping = &mappings.list[j];

			check(mapping->start < mapping->end);
			check(!j || mapping->start >= mapping[-1].end);
			check(strlen(mapping->path) < MAPPING_PATH);
			check(mapping->build_id_size <= MAPPING_BUILD_ID);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	const struct thread_view view = {
		.memory = {.page = page, .context = &guest},
		.tasks = &tasks,
		.threads = &threads,
		.cpu = {.family = CPU_FAMILY_X86,
			.x86 = {.cr0 = X86_CR0_PE | X86_CR0_PG,
				.cr3 = 0x1000 << GUEST_PAGE_SHIFT,
				.cr4 = X86_CR4_PAE,
				.efer = X86_EFER_LMA}},
	};
	struct thread_walk walk = {0};
	struct thread thread;

	fill_memory(&guest, data, size, false);
	while (walk.threads < THREADS &&
	       thread_walk_step(&walk, &view, &thread) == WALK_THREAD) {
		unsigned int before = guest.calls;

		look_at(&view, &thread);
		check(guest.calls - before <= THREAD_PAGES);
		thread_walk_holds(&walk, &view);
	}
	read_mappings(&view);
	free(guest.page);
	guest.page = NULL;
	return 0;
}
