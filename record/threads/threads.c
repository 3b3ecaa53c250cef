/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/threads.h"

#include "base/clock.h"
#include "record/learning/learning.h"
#include "record/threads/fibers.h"
#include "record/threads/linux.h"

/* The selector of the kernel's code: any whose lowest two bits are 0. */
#define KERNEL_CS 0x10

void thread_begin_pages(const struct learning *learning, unsigned int map_calls)
{
	const struct guest *guest = learning->guest;

	guest->ops->begin_pages(guest->memory, clock_monotonic(), map_calls);
}

static void set_view(struct thread_view *view, const struct learning *learning,
		     const struct cpu *cpu)
{
	const struct guest *guest = learning->guest;

	*view = (struct thread_view){
		.cpu = *cpu,
		.memory = {.page = guest->ops->map_page, .context = guest->memory},
		.tasks = learning->tasks.layout,
		.threads = learning->tasks.threads,
		.shift = learning->tasks.shift,
	};
}

/* Sets the view of Linux for arm64. In user mode, the page tables may lack the kernel. */
static bool view_arm64(struct thread_view *view, const struct learning *learning,
		       const struct cpu *cpu)
{
	uint64_t frame;

	set_view(view, learning, cpu);
	return cpu_translate(&view->cpu, &view->memory, view->threads->init + view->shift,
			     &frame) == TRANSLATED;
}

/* Sets the view of Linux. */
static bool view_linux(struct thread_view *view, const struct learning *learning,
		       const struct cpu *cpu)
{
	uint64_t space = cpu_space(cpu);

	if (cpu_kind(cpu) == CPU_ARM64)
		return view_arm64(view, learning, cpu);
	if (cpu_kind(cpu) != CPU_X86_64 || !space)
		return false;
	set_view(view, learning, cpu);
	view->cpu.x86.cs = KERNEL_CS;
	view->cpu.x86.is_compat = false;
	/* The page tables of user mode may lack the kernel. */
	linux_set_space(&view->cpu, space);
	return true;
}

bool thread_view_open(struct thread_view *view, const struct learning *learning)
{
	const struct guest *guest = learning->guest;
	bool is_linux = learning->tasks.layout && learning->tasks.threads;

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &guest->vcpu[i];

		if (!vcpu->captured)
			continue;
		thread_begin_pages(learning, FIBERS_MAPS);
		if (is_linux && view_linux(view, learning, &vcpu->cpu))
			return true;
		if (is_linux)
			continue;
		set_view(view, learning, &vcpu->cpu);
		if (fibers_view(&learning->fibers, view))
			return true;
	}
	return false;
}

enum walk_step thread_walk_step(struct thread_walk *walk, const struct thread_view *view,
				struct thread *thread)
{
	return view->fibers ? fiber_walk_step(walk, view, thread)
			    : linux_walk_step(walk, view, thread);
}

bool thread_walk_holds(const struct thread_walk *walk, const struct thread_view *view)
{
	return view->fibers ? fiber_walk_holds(walk, view) : linux_walk_holds(walk, view);
}

bool thread_read_moment(const struct thread_view *view, uint64_t task,
			struct thread_moment *moment)
{
	return view->fibers ? fiber_read_moment(view, task, moment)
			    : linux_read_moment(view, task, moment);
}

bool thread_view_counts(const struct thread_view *view)
{
	return !view->fibers || view->fibers->runtime != FIBER_NONE;
}

bool thread_read_wait(const struct thread_view *view, const struct thread *thread,
		      struct thread_wait *wait)
{
	return view->fibers ? fiber_read_wait(view, thread, wait)
			    : linux_read_wait(view, thread, wait);
}

void thread_unwind(const struct thread_wait *wait, const struct unwind_input *input,
		   struct chain *chain)
{
	cpu_unwind(&wait->cpu, input, chain);
	if (!wait->is_new)
		return;
	chain->count = 1;
	chain->end = CHAIN_WHOLE;
}

bool thread_chain_holds(const struct thread_view *view, const struct thread *thread,
			const struct unwind_input *input, const struct chain *chain)
{
	uint64_t address[CHAIN_ROOM];
	struct chain again = {.address = address};
	struct thread_wait wait;

	if (!thread_read_wait(view, thread, &wait))
		return false;
	thread_unwind(&wait, input, &again);
	return chain_is_equal(&again, chain);
}

uint64_t thread_ran(const struct thread_view *view, uint64_t task)
{
	uint64_t ran;

	if (view->fibers || !cpu_read(&view->cpu, &view->memory,
				      task + view->threads->ran, &ran, sizeof(ran)))
		return 0;
	return ran;
}
