/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_THREADS_THREADS_H
#define UNIPROF_RECORD_THREADS_THREADS_H

#include "arch/arch.h"
#include "format/recording.h"
#include "tables/fibers/layout.h"
#include "tables/linux/layout.h"
#include "unwind/unwind.h"

struct learning;

/*
 * The threads of a guest, read from its memory while it runs. Nothing there is trusted,
 * and all of it may change meanwhile. linux.c knows those of Linux, fibers.c those of
 * unikernels.
 */

/* The memory of a kernel, as one of its address spaces shows it. */
struct thread_view {
	struct cpu cpu; /* in kernel mode */
	struct guest_memory memory;
	const struct task_layout *tasks;
	const struct thread_layout *threads;
	const struct fiber_layout *fibers; /* NULL: it is Linux */
	uint64_t shift; /* distance of the kernel from its file's addresses, bytes */
};

/* Starts to look at a guest of which a round was taken. False if it is not known where it
 * has its threads, or if no vCPU had an address space. */
bool thread_view_open(struct thread_view *view, const struct learning *learning);

/* Begins to read the guest's pages, with at most @map_calls calls that map pages. */
void thread_begin_pages(const struct learning *learning, unsigned int map_calls);

/* What tells one wait of a thread from another. */
struct thread_moment {
	/* How often it was switched out or, of a unikernel's thread, a number that is
	 * another one in its next wait */
	uint64_t switches;
	uint32_t state; /* the kernel's bits */
	bool runs;	/* a CPU executes it */
	bool has_ended;
};

/* A thread. */
struct thread {
	uint64_t task; /* address of what describes it, such as a struct task_struct */
	uint32_t tid;
	struct thread_moment moment;
};

/* What else is known of a thread that waits. */
struct thread_wait {
	uint8_t state; /* enum wait_state */
	struct recording_process process;
	struct cpu cpu; /* its registers, with which it will go on */
	bool is_new;	/* the thread has not run yet: nothing called where it starts */
};

/* A walk through all threads; starts as zeros. */
struct thread_walk {
	/* the process, or the scheduler, whose threads are read; 0: none yet */
	uint64_t leader;
	/* the list of threads and the link to the next one; of a unikernel, what leads
	 * to the next thread, and that thread */
	uint64_t head, link;
	unsigned int threads; /* threads so far */
};

/* Maximum number of threads of a walk */
#define THREADS_MAX 16384

/* Number of threads that a walk reads at once: page() returns the same copy of a page for
 * all of them. With a new copy for each thread, a thread that moves in the list is passed
 * over unnoticed. */
#define WALK_PART 32

enum walk_step {
	WALK_THREAD, /* *@thread is the next one */
	WALK_DONE,   /* there are no more */
	WALK_BROKEN, /* the lists changed meanwhile, make no sense, or are too long */
};

/* Moves to the next thread. The kernel's own idle threads are left out. */
enum walk_step thread_walk_step(struct thread_walk *walk, const struct thread_view *view,
				struct thread *thread);

/* Returns whether the walk can go on after a while: its place is still in the list. */
bool thread_walk_holds(const struct thread_walk *walk, const struct thread_view *view);

/* Reads what tells the thread's waits apart. False if it can't be read. */
bool thread_read_moment(const struct thread_view *view, uint64_t task,
			struct thread_moment *moment);
/* Whether the system counts switches of threads. If not, a thread can have one moment
 * twice, and have run in between. */
bool thread_view_counts(const struct thread_view *view);
/* Reads the rest of a thread that does not run. False if it can't be read. */
bool thread_read_wait(const struct thread_view *view, const struct thread *thread,
		      struct thread_wait *wait);
/* Finds the chain of a thread that waits; @chain has room for CHAIN_ROOM addresses. */
void thread_unwind(const struct thread_wait *wait, const struct unwind_input *input,
		   struct chain *chain);
/* Reads the chain of a thread again. Returns whether it still is @chain. */
bool thread_chain_holds(const struct thread_view *view, const struct thread *thread,
			const struct unwind_input *input, const struct chain *chain);
/* Returns when the thread was last known to run, ns of the guest's own clock; 0: not
 * known. */
uint64_t thread_ran(const struct thread_view *view, uint64_t task);

static inline bool thread_waits(const struct thread_moment *moment)
{
	return !moment->runs && !moment->has_ended;
}

static inline bool thread_is_same(const struct thread_moment *a,
				  const struct thread_moment *b)
{
	return a->switches == b->switches && a->state == b->state && a->runs == b->runs &&
	       a->has_ended == b->has_ended;
}

/* Upper bound of the page() calls for a thread in each of the functions above */
#define THREAD_PAGES 128

#endif
