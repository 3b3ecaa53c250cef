/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/threads/fibers.h"

#include <ctype.h>
#include <string.h>

#include "arch/after_call.h"
#include "arch/flow.h"
#include "base/clock.h"

/* Maximum number of empty lists in a row, and of new threads after the one that runs */
#define EMPTY_MAX 4
#define NEW_MAX	  4

/* Number of threads that must make sense in a layout that may be wrong */
#define PROBE_MAX 4

/* How long a layout that fits is taken as right, ns */
#define FIT_LASTS NS_PER_S

/* How much deeper a stack can be than where its thread was switched out last, and how
 * much less deep, bytes. A stack of the smallest usual size has 16 KiB. */
#define DEEPER 0x10000
#define HIGHER 0x3000

static bool read_word(const struct thread_view *view, uint64_t address, uint64_t *to)
{
	return cpu_read(&view->cpu, &view->memory, address, to, sizeof(*to));
}

static bool is_pointer(uint64_t address)
{
	return address && address % 8 == 0;
}

/* Reads a pointer that may be 0, at the end of a list. */
static bool read_link(const struct thread_view *view, uint64_t address, uint64_t *to)
{
	return read_word(view, address, to) && (!*to || is_pointer(*to));
}

/* Moves to the next list of threads. */
static enum walk_step next_list(struct thread_walk *walk, const struct thread_view *view)
{
	const struct fiber_layout *layout = view->fibers;
	uint64_t list = layout->list + view->shift;

	if (layout->sched_list == FIBER_NONE) {
		if (walk->leader)
			return WALK_DONE;
		walk->leader = walk->head = list;
	} else {
		uint64_t from = walk->leader ? walk->leader + layout->sched_next : list;

		if (walk->leader && layout->sched_next == FIBER_NONE)
			return WALK_DONE;
		if (!read_link(view, from, &walk->leader))
			return WALK_BROKEN;
		if (!walk->leader)
			return WALK_DONE;
		walk->head = walk->leader + layout->sched_list;
	}
	return read_link(view, walk->head, &walk->link) ? WALK_THREAD : WALK_BROKEN;
}

/* Makes an id of the address of a thread that has none, as pids are: positive, of 32
 * bits. Threads that are not 16 GiB apart have different ones. */
static uint32_t id_of(uint64_t task)
{
	uint32_t id = task >> 3 & INT32_MAX;

	return id ? id : 1;
}

enum walk_step fiber_walk_step(struct thread_walk *walk, const struct thread_view *view,
			       struct thread *thread)
{
	uint64_t link, previous;

	for (int i = 0; !walk->link; i++) {
		enum walk_step step = i < EMPTY_MAX ? next_list(walk, view) : WALK_BROKEN;

		if (step != WALK_THREAD)
			return step;
	}
	if (walk->threads++ == THREADS_MAX)
		return WALK_BROKEN;
	*thread = (struct thread){.task = walk->link, .tid = id_of(walk->link)};
	link = thread->task + view->fibers->link;
	/* A thread that has moved in the list, or has left it, has another one before. */
	if (!read_word(view, link + 8, &previous) || previous != walk->head ||
	    !read_link(view, link, &walk->link) ||
	    !fiber_read_moment(view, thread->task, &thread->moment))
		return WALK_BROKEN;
	walk->head = link;
	return WALK_THREAD;
}

bool fiber_walk_holds(const struct thread_walk *walk, const struct thread_view *view)
{
	uint64_t next;

	return !walk->leader ||
	       (read_word(view, walk->head, &next) && next == walk->link);
}

/* Whether the thread was switched out: another one has not started yet. */
static bool has_frame(const struct thread_view *view, uint64_t ip)
{
	return ip - (view->fibers->switch_code + view->shift) < FIBER_SWITCH_MAX;
}

static size_t frame_words(const struct fiber_layout *layout)
{
	size_t count = 0;

	while (count < FIBER_FRAME && layout->frame[count])
		count++;
	return count;
}

/* What a thread has left at its stack pointer. */
static bool read_frame(const struct thread_view *view, uint64_t sp,
		       uint64_t words[FIBER_FRAME])
{
	return sp % 8 == 0 && cpu_copy(&view->cpu, &view->memory, sp, words,
				       frame_words(view->fibers) * sizeof(*words));
}

/* Sets *@runs to whether one of the CPUs has the thread as its own. */
static bool read_current(const struct thread_view *view, uint64_t task, bool *runs)
{
	const struct fiber_layout *layout = view->fibers;
	uint64_t current[64];
	size_t count = layout->currents;

	if (count > sizeof(current) / sizeof(*current) ||
	    !cpu_copy(&view->cpu, &view->memory, layout->current + view->shift, current,
		      count * sizeof(*current)))
		return false;
	*runs = false;
	for (size_t i = 0; i < count; i++)
		*runs |= current[i] == task;
	return true;
}

/* Sets *@runs to whether the thread is the last one in the list. New ones that have not
 * run may follow it, of which one may run. */
static bool read_last(const struct thread_view *view, uint64_t task, bool *runs)
{
	*runs = false;
	for (int i = 0; i < NEW_MAX; i++) {
		uint64_t ip;

		if (!read_link(view, task + view->fibers->link, &task))
			return false;
		if (!task) {
			*runs = true;
			return true;
		}
		if (!read_word(view, task + view->fibers->ip, &ip))
			return false;
		if (has_frame(view, ip))
			return true;
	}
	return true;
}

/* Mixes a number into a hash, by multiplicative hashing with the golden ratio (Knuth,
 * TAOCP 3, 6.4). */
static uint64_t mix(uint64_t hash, uint64_t number)
{
	hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 32;
}

/* Mixes in a member that the system may not have. */
static bool mix_member(const struct thread_view *view, uint64_t task, uint64_t offset,
		       uint64_t *hash)
{
	uint64_t number;

	if (offset == FIBER_NONE)
		return true;
	if (!read_word(view, task + offset, &number))
		return false;
	*hash = mix(*hash, number);
	return true;
}

/* Mixes in what the thread has left on its stack: while it is about to be switched out,
 * other things are there. */
static bool mix_frame(const struct thread_view *view, uint64_t sp, uint64_t ip,
		      uint64_t *hash)
{
	uint64_t words[FIBER_FRAME];

	if (!has_frame(view, ip))
		return true;
	if (!read_frame(view, sp, words))
		return false;
	for (size_t i = 0; i < frame_words(view->fibers); i++)
		*hash = mix(*hash, words[i]);
	return true;
}

bool fiber_read_moment(const struct thread_view *view, uint64_t task,
		       struct thread_moment *moment)
{
	const struct fiber_layout *layout = view->fibers;
	uint64_t sp, ip;
	uint32_t flags;

	if (!cpu_read(&view->cpu, &view->memory, task + layout->flags, &flags,
		      sizeof(flags)) ||
	    !read_word(view, task + layout->sp, &sp) ||
	    !read_word(view, task + layout->ip, &ip) ||
	    !(layout->current == FIBER_NONE ? read_last(view, task, &moment->runs)
					    : read_current(view, task, &moment->runs)))
		return false;
	moment->state = flags & (uint32_t)(layout->runnable | layout->exited);
	moment->has_ended = flags & layout->exited;
	moment->switches = mix(sp, ip);
	return mix_member(view, task, layout->wakeup, &moment->switches) &&
	       mix_member(view, task, layout->runtime, &moment->switches) &&
	       (moment->runs || mix_frame(view, sp, ip, &moment->switches));
}

/* Reads the name, up to an unmapped page. */
static bool read_name(const struct thread_view *view, uint64_t task,
		      char to[RECORDING_COMM])
{
	uint64_t address;
	size_t size;

	memset(to, 0, RECORDING_COMM);
	if (!read_word(view, task + view->fibers->name, &address))
		return false;
	if (!address)
		return true;
	size = GUEST_PAGE_SIZE - address % GUEST_PAGE_SIZE;
	size = size < RECORDING_COMM - 1 ? size : RECORDING_COMM - 1;
	if (!cpu_read(&view->cpu, &view->memory, address, to, size))
		return false;
	if (strlen(to) == size && size < RECORDING_COMM - 1 &&
	    !cpu_read(&view->cpu, &view->memory, address + size, to + size,
		      RECORDING_COMM - 1 - size))
		memset(to + size, 0, RECORDING_COMM - size);
	size = strlen(to);
	memset(to + size, 0, RECORDING_COMM - size);
	return true;
}

static bool is_printable(const char *text)
{
	while (isprint((unsigned char)*text))
		text++;
	return !*text;
}

/* Whether the first threads make sense. */
static bool makes_sense(const struct thread_view *view)
{
	struct thread_walk walk = {0};

	while (walk.threads < PROBE_MAX) {
		char name[RECORDING_COMM];
		struct thread thread;
		enum walk_step step = fiber_walk_step(&walk, view, &thread);

		if (step == WALK_DONE)
			break;
		if (step == WALK_BROKEN || !read_name(view, thread.task, name) ||
		    !is_printable(name))
			return false;
	}
	return walk.threads;
}

bool fibers_view(const struct fibers *fibers, struct thread_view *view)
{
	view->shift = fibers->shift;
	for (size_t i = 0; i < fibers->count; i++) {
		view->fibers = &fibers->layouts[i];
		if (fibers->count == 1 || makes_sense(view))
			return true;
	}
	view->fibers = NULL;
	return false;
}

bool fibers_view_recent(struct fibers *fibers, uint64_t now, struct thread_view *view)
{
	if (!fibers->fit || now - fibers->looked > FIT_LASTS) {
		fibers->fit = fibers_view(fibers, view) ? view->fibers : NULL;
		fibers->looked = now;
	}
	view->fibers = fibers->fit;
	view->shift = fibers->shift;
	return view->fibers;
}

static enum wait_state state_of(const struct thread_view *view, uint32_t flags,
				const char *name)
{
	if (strcmp(name, "idle") == 0 || strcmp(name, "Idle") == 0)
		return WAIT_IDLE;
	return flags & view->fibers->runnable ? WAIT_RUNNABLE : WAIT_SLEEPING;
}

static void set_x86(struct x86_cpu *cpu, const uint64_t *words, const uint64_t *frame,
		    size_t count)
{
	memset(cpu->reg, 0, sizeof(cpu->reg));
	for (size_t i = 0; i < count; i++) {
		if (frame[i] == FIBER_RETURN_X86 + 1)
			cpu->rip = words[i];
		else if (frame[i] <= FIBER_RETURN_X86)
			cpu->reg[frame[i] - 1] = words[i];
	}
}

static void set_arm(struct arm_cpu *cpu, const uint64_t *words, const uint64_t *frame,
		    size_t count)
{
	memset(cpu->x, 0, sizeof(cpu->x));
	for (size_t i = 0; i < count; i++)
		if (frame[i] <= FIBER_RETURN_ARM64 + 1)
			cpu->x[frame[i] - 1] = words[i];
	cpu->pc = cpu->x[FIBER_RETURN_ARM64];
}

/*
 * Whether the thread goes on behind a call, that of the function that switches. Unikraft
 * may jump there instead, at the end of the function that chooses the next thread; it
 * counts how long threads run, so no other call is taken for that one for long.
 */
static bool is_after_switch(const struct thread_view *view, const struct cpu *cpu)
{
	bool is_arm64 = cpu->family == CPU_FAMILY_ARM;
	uint64_t pc = is_arm64 ? cpu->arm.pc : cpu->x86.rip, target;
	uint8_t code[AFTER_CALL_BYTES];

	if (!cpu_copy(&view->cpu, &view->memory, pc - sizeof(code), code, sizeof(code)) ||
	    !flow_call_before(is_arm64, code + sizeof(code), sizeof(code), pc, &target))
		return false;
	return thread_view_counts(view) || !target ||
	       target == view->fibers->switch_code + view->shift;
}

/* Reads the registers with which the thread goes on, after the function that switches. */
static bool read_registers(const struct thread_view *view, uint64_t task,
			   struct thread_wait *wait)
{
	struct cpu *cpu = &wait->cpu;
	const struct fiber_layout *layout = view->fibers;
	uint64_t sp, ip, words[FIBER_FRAME];
	size_t count = 0;

	if (!read_word(view, task + layout->sp, &sp) ||
	    !read_word(view, task + layout->ip, &ip))
		return false;
	wait->is_new = !has_frame(view, ip);
	if (!wait->is_new) {
		count = frame_words(layout);
		if (!read_frame(view, sp, words))
			return false;
	}
	if (cpu->family == CPU_FAMILY_ARM) {
		set_arm(&cpu->arm, words, layout->frame, count);
		if (!count)
			cpu->arm.pc = ip;
		cpu->arm.sp_el0 = cpu->arm.sp_el1 = sp + count * 8;
	} else {
		set_x86(&cpu->x86, words, layout->frame, count);
		if (!count)
			cpu->x86.rip = ip;
		cpu->x86.reg[X86_RSP] = sp + count * 8;
	}
	return wait->is_new || is_after_switch(view, cpu);
}

bool fiber_read_wait(const struct thread_view *view, const struct thread *thread,
		     struct thread_wait *wait)
{
	wait->cpu = view->cpu;
	wait->process = (struct recording_process){
		.space = cpu_space(&view->cpu),
		.tid = thread->tid,
	};
	if (!read_name(view, thread->task, wait->process.thread) ||
	    !read_registers(view, thread->task, wait))
		return false;
	wait->state = (uint8_t)state_of(view, thread->moment.state, wait->process.thread);
	return true;
}

/* Whether the stack pointer is in the stack of the thread that the CPU has as its own. */
static bool is_on_stack(const struct thread_view *view, uint64_t task, uint64_t sp)
{
	uint64_t saved, stack;

	if (!read_word(view, task + view->fibers->sp, &saved) ||
	    !read_word(view, task + view->fibers->stack, &stack))
		return false;
	/* The first thread has a stack that is not its own. */
	if (!stack || stack > saved || saved - stack > DEEPER)
		stack = saved - DEEPER;
	return sp - stack < saved - stack + HIGHER;
}

/* Finds the thread by the stack pointer. */
static bool find_current(const struct thread_view *view, unsigned int vcpu, uint64_t sp,
			 uint64_t *task)
{
	const struct fiber_layout *layout = view->fibers;
	uint64_t bottom, stack;

	if (layout->current != FIBER_NONE)
		return vcpu < layout->currents &&
		       read_word(view, layout->current + view->shift + 8 * vcpu, task) &&
		       is_pointer(*task) && is_on_stack(view, *task, sp);
	bottom = sp & ~(layout->stack_size - 1);
	return read_word(view, bottom, task) && is_pointer(*task) &&
	       read_word(view, *task + layout->stack, &stack) && stack == bottom;
}

void fiber_name(const struct thread_view *view, unsigned int vcpu,
		struct recording_process *process)
{
	uint64_t sp = view->cpu.family == CPU_FAMILY_ARM ? arm64_sp(&view->cpu.arm)
							 : view->cpu.x86.reg[X86_RSP];
	char name[RECORDING_COMM];
	uint64_t task;

	if (!find_current(view, vcpu, sp, &task) || !read_name(view, task, name))
		return;
	process->tid = id_of(task);
	memcpy(process->thread, name, sizeof(name));
}
