/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Unikernels with arbitrary threads, of arbitrary layouts. The first byte selects the
 * form of the lists, the next ones are offsets; the rest is the guest's memory, words of
 * 8 bytes, each after 2 bytes with its position.
 */

#include "record/threads/fibers.h"
#include "tests/fuzz/guest.h"

/* A walk through many has no more to show. */
#define THREADS 40

/* Addresses are physical: the frames in turn. */
static const struct cpu cpu = {.family = CPU_FAMILY_ARM};

static void make_layout(struct fiber_layout *layout, const uint8_t **data, size_t *size)
{
	uint64_t *const offsets[] = {&layout->link,   &layout->name,   &layout->flags,
				     &layout->sp,     &layout->ip,     &layout->stack,
				     &layout->wakeup, &layout->runtime};
	uint64_t form = take(data, size, 1);

	*layout = (struct fiber_layout){
		.list = 0x10,
		.sched_list = form & 1 ? 0x20 : FIBER_NONE,
		.sched_next = form & 2 ? 0x18 : FIBER_NONE,
		.current = form & 4 ? 0x40 : FIBER_NONE,
		.currents = form & 4 ? 1 + form % 64 : 0,
		.stack_size = 0x1000,
		.switch_code = 0x100,
		.runnable = 1,
		.exited = form & 8 ? 2 : 0,
		.frame = {20, 30, FIBER_SKIP, FIBER_RETURN_ARM64 + 1},
	};
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
		*offsets[i] = take(data, size, 2);
	if (form & 16)
		layout->wakeup = layout->runtime = FIBER_NONE;
}

static void look_at(const struct thread_view *view, const struct thread *thread)
{
	struct thread_wait wait;

	check(thread->tid != 0 && thread->tid <= INT32_MAX);
	if (!thread_read_wait(view, thread, &wait))
		return;
	check(wait.state < WAIT_STATES);
	check(wait.process.tid == thread->tid);
	check(strnlen(wait.process.thread, RECORDING_COMM) < RECORDING_COMM);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct guest guest;
	struct fiber_layout layouts[2];
	const struct fibers fibers = {.layouts = layouts, .count = 2};
	struct thread_view view = {
		.memory = {.page = guest_page, .context = &guest},
		.cpu = cpu,
		.fibers = layouts,
	};
	struct recording_process process = {0};
	struct thread_walk walk = {0};
	struct thread thread;
	unsigned int before;

	make_layout(&layouts[0], &data, &size);
	layouts[1] = layouts[0];
	if (!fiber_layout_is_valid(&layouts[0]))
		return 0;
	fill_memory(&guest, data, size, false);
	guest.calls = 0;
	while (walk.threads < THREADS) {
		before = guest.calls;
		if (thread_walk_step(&walk, &view, &thread) != WALK_THREAD)
			break;
		look_at(&view, &thread);
		check(guest.calls - before <= THREAD_PAGES);
		thread_walk_holds(&walk, &view);
	}
	before = guest.calls;
	if (fibers_view(&fibers, &view)) {
		check(guest.calls - before <= FIBERS_MAPS);
		view.cpu.arm.sp_el1 = view.cpu.arm.sp_el0 = 0x2000;
		fiber_name(&view, 0, &process);
		check(strnlen(process.thread, RECORDING_COMM) < RECORDING_COMM);
	}
	free(guest.page);
	guest.page = NULL;
	return 0;
}
