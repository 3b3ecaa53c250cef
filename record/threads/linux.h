/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_THREADS_LINUX_H
#define UNIPROF_RECORD_THREADS_LINUX_H

#include "record/threads/threads.h"

/* The functions of threads.h for a guest with Linux for x86-64 or arm64. */

enum walk_step linux_walk_step(struct thread_walk *walk, const struct thread_view *view,
			       struct thread *thread);
bool linux_walk_holds(const struct thread_walk *walk, const struct thread_view *view);
bool linux_read_moment(const struct thread_view *view, uint64_t task,
		       struct thread_moment *moment);
bool linux_read_wait(const struct thread_view *view, const struct thread *thread,
		     struct thread_wait *wait);

/* Sets the address space that the CPU has. */
void linux_set_space(struct cpu *cpu, uint64_t space);

#endif
