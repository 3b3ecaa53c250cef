/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/tasks.h"

#include <string.h>

#include "symbols/symbols.h"

/* The memory of a kernel, as one of its address spaces shows it. */
struct view {
	struct cpu cpu;
	const struct guest_memory *memory;
	const struct tasks *tasks;
	uint64_t space; /* address space of the process to name */
};

static bool read_word(const struct view *view, uint64_t address, uint64_t *to)
{
	return cpu_read(&view->cpu, view->memory, address, to, sizeof(*to));
}

/* Returns the guest's address for an address in the kernel's file. Low addresses, which
 * per-CPU variables may have (until Linux 6.14), do not move. */
static uint64_t shift_address(const struct view *view, uint64_t address)
{
	return address >= LINUX_START ? address + view->tasks->shift : address;
}

/* Reads the address of the task that the CPU with this number executes. */
static bool read_current(const struct view *view, unsigned int cpu, uint64_t *task)
{
	const struct task_layout *layout = view->tasks->layout;
	uint64_t base;

	return read_word(view, shift_address(view, layout->per_cpu) + cpu * sizeof(base),
			 &base) &&
	       read_word(view, shift_address(view, layout->current) + base, task);
}

/* Returns whether the task belongs to the process with the address space. Threads of the
 * kernel have no address space. */
static bool is_in_space(const struct view *view, uint64_t task)
{
	const struct task_layout *layout = view->tasks->layout;
	uint64_t mm, pgd, frame;

	return task >= KERNEL_START && read_word(view, task + layout->mm, &mm) &&
	       mm >= KERNEL_START && read_word(view, mm + layout->pgd, &pgd) &&
	       pgd % GUEST_PAGE_SIZE == 0 &&
	       cpu_translate(&view->cpu, view->memory, pgd, &frame) == TRANSLATED &&
	       frame << GUEST_PAGE_SHIFT == view->space;
}

/* Reads a name, which may be in two pages. */
static bool read_comm(const struct view *view, uint64_t address, char to[RECORDING_COMM])
{
	size_t first = GUEST_PAGE_SIZE - address % GUEST_PAGE_SIZE;

	if (first > RECORDING_COMM)
		first = RECORDING_COMM;
	if (!cpu_read(&view->cpu, view->memory, address, to, first) ||
	    (first < RECORDING_COMM &&
	     !cpu_read(&view->cpu, view->memory, address + first, to + first,
		       RECORDING_COMM - first)))
		return false;
	to[RECORDING_COMM - 1] = 0;
	memset(to + strlen(to), 0, RECORDING_COMM - strlen(to));
	return true;
}

/* Reads the thread's own id and name, if the layout is known; else they stay unknown. */
static void read_thread(const struct view *view, uint64_t task,
			struct recording_process *process)
{
	const struct thread_layout *layout = view->tasks->threads;
	struct recording_process read = {0};
	uint32_t tid;

	if (!layout ||
	    !cpu_read(&view->cpu, view->memory, task + layout->pid, &tid, sizeof(tid)) ||
	    !read_comm(view, task + view->tasks->layout->comm, read.thread))
		return;
	process->tid = tid;
	memcpy(process->thread, read.thread, sizeof(process->thread));
}

/* Reads pid and name. The name of a process is its first thread's, which remains until
 * the process has ended. @is_current: the task is the thread that runs. */
static bool read_process(const struct view *view, uint64_t task, bool is_current,
			 struct recording_process *process)
{
	const struct task_layout *layout = view->tasks->layout;
	struct recording_process read = {.space = process->space};
	uint64_t leader;

	if (!cpu_read(&view->cpu, view->memory, task + layout->tgid, &read.pid,
		      sizeof(read.pid)) ||
	    !read_word(view, task + layout->group_leader, &leader) ||
	    leader < KERNEL_START || !read_comm(view, leader + layout->comm, read.comm))
		return false;
	if (is_current)
		read_thread(view, task, &read);
	/* The process may have ended meanwhile, and another may have its memory. */
	if (!read.pid || !is_in_space(view, task))
		return false;
	*process = read;
	return true;
}

/* Returns the position of the space in its set; TASK_WAYS if it is not in the set. */
static size_t find_way(const struct seen_task *set, uint64_t space)
{
	size_t way = 0;

	while (way < TASK_WAYS && set[way].space != space)
		way++;
	return way;
}

/* Puts the task first in its set. If the set is full, the space not met for longest is
 * forgotten. */
static void remember_task(struct seen_task *set, uint64_t space, uint64_t task)
{
	size_t way = find_way(set, space);

	if (way == TASK_WAYS)
		way--;
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = (struct seen_task){space, task};
}

void tasks_name(struct tasks *tasks, const struct cpu *cpu,
		const struct guest_memory *memory, unsigned int vcpu,
		struct recording_process *process)
{
	struct view view = {
		.cpu = *cpu, .memory = memory, .tasks = tasks, .space = process->space};
	struct seen_task *set = tasks->seen[tasks_set(process->space)];
	bool is_current = false;
	uint64_t task;
	size_t way;

	if (!tasks->layout || !process->space || cpu_kind(cpu) != CPU_X86_64)
		return;
	/* The page tables of user mode may lack the kernel. */
	view.cpu.x86.cr3 = process->space;
	if (read_current(&view, vcpu, &task) && is_in_space(&view, task)) {
		remember_task(set, process->space, task);
		is_current = true;
	}
	way = find_way(set, process->space);
	if (way < TASK_WAYS && !read_process(&view, set[way].task, is_current, process))
		set[way].space = 0;
}

bool tasks_memory(const struct tasks *tasks, struct cpu *cpu,
		  const struct guest_memory *memory,
		  const struct recording_process *process, uint64_t *mm)
{
	const struct seen_task *set = tasks->seen[tasks_set(process->space)];
	size_t way = find_way(set, process->space);
	struct view view = {
		.cpu = *cpu, .memory = memory, .tasks = tasks, .space = process->space};
	uint32_t pid;

	if (!tasks->layout || !process->space || way == TASK_WAYS ||
	    cpu_kind(cpu) != CPU_X86_64)
		return false;
	view.cpu.x86.cr3 = process->space;
	*cpu = view.cpu;
	return is_in_space(&view, set[way].task) &&
	       cpu_read(&view.cpu, memory, set[way].task + tasks->layout->tgid, &pid,
			sizeof(pid)) &&
	       pid == process->pid &&
	       read_word(&view, set[way].task + tasks->layout->mm, mm);
}
