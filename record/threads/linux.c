/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/linux.h"

#include <string.h>

/* Linux's limit of thread ids (include/linux/threads.h, PID_MAX_LIMIT) */
#define TID_MAX (4u << 20)

/* States of threads (Linux 6.1, include/linux/sched.h). */
#define STATE_INTERRUPTIBLE   0x1
#define STATE_UNINTERRUPTIBLE 0x2
#define STATE_STOPPED	      0x4
#define STATE_TRACED	      0x8
#define STATE_PARKED	      0x40
#define STATE_DEAD	      0x80
#define STATE_NOLOAD	      0x400

static bool read_word(const struct thread_view *view, uint64_t address, uint64_t *to)
{
	return cpu_read(&view->cpu, &view->memory, address, to, sizeof(*to));
}

static bool read_number(const struct thread_view *view, uint64_t address, uint32_t *to)
{
	return cpu_read(&view->cpu, &view->memory, address, to, sizeof(*to));
}

/* Reads the address of something in the kernel. */
static bool read_pointer(const struct thread_view *view, uint64_t address, uint64_t *to)
{
	return read_word(view, address, to) && *to >= KERNEL_START && *to % 8 == 0;
}

void linux_set_space(struct cpu *cpu, uint64_t space)
{
	if (cpu->family == CPU_FAMILY_ARM) {
		cpu->arm.ttbr0 = space;
		return;
	}
	cpu->x86.cr3 = space;
	if (cpu->x86.kernel_cr3)
		cpu->x86.kernel_cr3 = space;
}

/* Moves to the next process. */
static enum walk_step next_process(struct thread_walk *walk,
				   const struct thread_view *view)
{
	const struct thread_layout *layout = view->threads;
	uint64_t first = layout->init + view->shift, link, signal;
	uint64_t from = walk->leader ? walk->leader : first;

	if (!read_pointer(view, from + layout->tasks, &link))
		return WALK_BROKEN;
	walk->leader = link - layout->tasks;
	if (walk->leader == first)
		return WALK_DONE;
	if (!read_pointer(view, walk->leader + layout->signal, &signal))
		return WALK_BROKEN;
	walk->head = signal + layout->thread_head;
	return read_pointer(view, walk->head, &walk->link) && walk->link != walk->head
		       ? WALK_THREAD
		       : WALK_BROKEN;
}

enum walk_step linux_walk_step(struct thread_walk *walk, const struct thread_view *view,
			       struct thread *thread)
{
	const struct thread_layout *layout = view->threads;
	uint64_t leader;

	if (walk->link == walk->head) {
		enum walk_step step = next_process(walk, view);

		if (step != WALK_THREAD)
			return step;
	}
	if (walk->threads++ == THREADS_MAX)
		return WALK_BROKEN;
	*thread = (struct thread){.task = walk->link - layout->thread_node};
	if (!read_pointer(view, thread->task + view->tasks->group_leader, &leader) ||
	    leader != walk->leader ||
	    !read_number(view, thread->task + layout->pid, &thread->tid) ||
	    !thread->tid || thread->tid > TID_MAX ||
	    !read_pointer(view, walk->link, &walk->link) ||
	    !linux_read_moment(view, thread->task, &thread->moment))
		return WALK_BROKEN;
	return WALK_THREAD;
}

/* Returns whether the link is in a list: what is before it leads to it. */
static bool is_linked(const struct thread_view *view, uint64_t link)
{
	uint64_t before, next;

	return read_pointer(view, link + 8, &before) &&
	       read_pointer(view, before, &next) && next == link;
}

bool linux_walk_holds(const struct thread_walk *walk, const struct thread_view *view)
{
	return !walk->leader || (is_linked(view, walk->leader + view->threads->tasks) &&
				 is_linked(view, walk->link));
}

bool linux_read_moment(const struct thread_view *view, uint64_t task,
		       struct thread_moment *moment)
{
	const struct thread_layout *layout = view->threads;
	uint32_t on_cpu, exit_state;
	uint64_t switches, preemptions;

	if (!read_number(view, task + layout->on_cpu, &on_cpu) ||
	    !read_number(view, task + layout->state, &moment->state) ||
	    !read_number(view, task + layout->exit_state, &exit_state) ||
	    !read_word(view, task + layout->switches, &switches) ||
	    !read_word(view, task + layout->preemptions, &preemptions))
		return false;
	moment->switches = switches + preemptions;
	moment->runs = on_cpu;
	moment->has_ended = exit_state || moment->state & STATE_DEAD;
	return true;
}

static enum wait_state state_of(uint32_t state)
{
	if (!state)
		return WAIT_RUNNABLE;
	if (state & (STATE_STOPPED | STATE_TRACED))
		return WAIT_STOPPED;
	if (state & (STATE_NOLOAD | STATE_PARKED))
		return WAIT_IDLE;
	if (state & STATE_UNINTERRUPTIBLE)
		return WAIT_UNINTERRUPTIBLE;
	return state & STATE_INTERRUPTIBLE ? WAIT_SLEEPING : WAIT_UNKNOWN;
}

static bool read_comm(const struct thread_view *view, uint64_t task,
		      char to[RECORDING_COMM])
{
	if (!cpu_copy(&view->cpu, &view->memory, task + view->tasks->comm, to,
		      RECORDING_COMM))
		return false;
	to[RECORDING_COMM - 1] = 0;
	memset(to + strlen(to), 0, RECORDING_COMM - strlen(to));
	return true;
}

/* Reads the address space of the thread's process; 0: it has none of its own. */
static bool read_space(const struct thread_view *view, uint64_t task, uint64_t *space)
{
	uint64_t mm, pgd, frame;

	*space = 0;
	if (!read_word(view, task + view->tasks->mm, &mm))
		return false;
	if (!mm)
		return true;
	if (mm < KERNEL_START || !read_word(view, mm + view->tasks->pgd, &pgd) ||
	    pgd % GUEST_PAGE_SIZE ||
	    cpu_translate(&view->cpu, &view->memory, pgd, &frame) != TRANSLATED)
		return false;
	*space = frame << GUEST_PAGE_SHIFT;
	return true;
}

static bool read_process(const struct thread_view *view, const struct thread *thread,
			 struct recording_process *process)
{
	uint64_t leader;

	*process = (struct recording_process){.tid = thread->tid};
	return read_space(view, thread->task, &process->space) &&
	       read_number(view, thread->task + view->tasks->tgid, &process->pid) &&
	       read_pointer(view, thread->task + view->tasks->group_leader, &leader) &&
	       read_comm(view, leader, process->comm) &&
	       read_comm(view, thread->task, process->thread);
}

/* Reads the registers that the kernel has put on the thread's stack (Linux,
 * arch/x86/entry/entry_64.S, __switch_to_asm()). */
static bool read_x86(const struct thread_view *view, uint64_t task, struct x86_cpu *cpu)
{
	const struct thread_layout *layout = view->threads;
	const struct {
		uint64_t offset;
		unsigned int number;
	} saved[] = {
		{layout->bx, 3},   {layout->bp, X86_RBP}, {layout->r12, 12},
		{layout->r13, 13}, {layout->r14, 14},	  {layout->r15, 15},
	};
	uint64_t sp;

	if (!read_pointer(view, task + layout->sp, &sp) ||
	    !read_word(view, sp + layout->return_address, &cpu->rip))
		return false;
	memset(cpu->reg, 0, sizeof(cpu->reg));
	for (size_t i = 0; i < sizeof(saved) / sizeof(saved[0]); i++)
		if (!read_word(view, sp + saved[i].offset, &cpu->reg[saved[i].number]))
			return false;
	cpu->reg[X86_RSP] = sp + layout->return_address + 8;
	return true;
}

/* The current stack pointer is EL1's own (Arm ARM, C5.2.19, PSTATE). */
#define CPSR_EL1H 0x5

/* Reads the registers that the kernel has put into the task (Linux,
 * arch/arm64/kernel/entry.S, cpu_switch_to()). */
static bool read_arm64(const struct thread_view *view, uint64_t task, struct arm_cpu *cpu)
{
	const struct thread_layout *layout = view->threads;

	memset(cpu->x, 0, sizeof(cpu->x));
	for (unsigned int i = 0; i < 10; i++)
		if (!read_word(view, task + layout->bx + i * 8, &cpu->x[19 + i]))
			return false;
	cpu->cpsr = CPSR_EL1H;
	if (!read_word(view, task + layout->bp, &cpu->x[29]) ||
	    !read_pointer(view, task + layout->sp, &cpu->sp_el1) ||
	    !read_word(view, task + layout->return_address, &cpu->pc))
		return false;
	cpu->x[30] = cpu->pc;
	return true;
}

static bool read_registers(const struct thread_view *view, uint64_t task, uint64_t space,
			   struct cpu *cpu)
{
	bool is_read = cpu->family == CPU_FAMILY_ARM ? read_arm64(view, task, &cpu->arm)
						     : read_x86(view, task, &cpu->x86);

	if (space)
		linux_set_space(cpu, space);
	return is_read;
}

bool linux_read_wait(const struct thread_view *view, const struct thread *thread,
		     struct thread_wait *wait)
{
	wait->state = (uint8_t)state_of(thread->moment.state);
	wait->cpu = view->cpu;
	wait->is_new = false;
	return read_process(view, thread, &wait->process) &&
	       read_registers(view, thread->task, wait->process.space, &wait->cpu);
}
