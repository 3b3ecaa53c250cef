/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_THREADS_FIBERS_H
#define UNIPROF_RECORD_THREADS_FIBERS_H

#include "record/threads/threads.h"

/* The threads of unikernels, which switch by themselves (tables/fibers/layout.h). */

/* Where they may be. Starts as zeros. */
struct fibers {
	const struct fiber_layout *layouts; /* at most one of these is right */
	size_t count;			    /* 0: not known */
	uint64_t shift; /* distance of the unikernel from the table's addresses, bytes */
	const struct fiber_layout *fit; /* the one that fitted last; NULL: none */
	uint64_t looked; /* time of that look at the memory, ns, monotonic */
};

/* Upper bound of the page() calls in fibers_view() */
#define FIBERS_MAPS 512

/* Completes the view, which has CPU and memory, with the layout that fits the memory.
 * False if none does. */
bool fibers_view(const struct fibers *fibers, struct thread_view *view);

/* Does what fibers_view() does, but looks at the memory only if the last look is old at
 * the time @now. */
bool fibers_view_recent(struct fibers *fibers, uint64_t now, struct thread_view *view);

/* The functions of threads.h. */
enum walk_step fiber_walk_step(struct thread_walk *walk, const struct thread_view *view,
			       struct thread *thread);
bool fiber_walk_holds(const struct thread_walk *walk, const struct thread_view *view);
bool fiber_read_moment(const struct thread_view *view, uint64_t task,
		       struct thread_moment *moment);
bool fiber_read_wait(const struct thread_view *view, const struct thread *thread,
		     struct thread_wait *wait);

/* Sets id and name of the thread that the vCPU executed at a sample, whose registers the
 * view has. Leaves them if the guest has gone on to another thread meanwhile. */
void fiber_name(const struct thread_view *view, unsigned int vcpu,
		struct recording_process *process);

#endif
