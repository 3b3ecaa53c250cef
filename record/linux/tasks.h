/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_TASKS_H
#define UNIPROF_RECORD_LINUX_TASKS_H

#include "arch/arch.h"
#include "format/recording.h"
#include "tables/linux/layout.h"

/* Address spaces of which a task is remembered: sets, and spaces in each. */
#define TASK_SETS 64
#define TASK_WAYS 4

/* The task that was last seen in an address space; the space is 0 where there is none. */
struct seen_task {
	uint64_t space, task;
};

/*
 * The names of the processes of a guest with Linux, read from its memory while it runs.
 * Nothing there is trusted: at worst, a hostile guest gives its processes other names.
 * Starts as zeros.
 */
struct tasks {
	const struct task_layout *layout; /* NULL: it is not known */
	uint64_t shift;			  /* of the kernel from its file's addresses */
	/* By space; in a set, the latest one first. */
	struct seen_task seen[TASK_SETS][TASK_WAYS];
};

/* How many of guest_memory.page()'s calls may map a page, for each tasks_name(). */
#define TASK_MAPS 64

/*
 * Sets pid and name in @process, whose space is known, to those of the process that has
 * this address space: of the task that @vcpu executes now or, if that is another's, of
 * the one that was last seen in the space and still has it. @cpu has the vCPU's registers
 * at the sample. Leaves them unknown if neither is sure: the guest goes on meanwhile.
 */
void tasks_name(struct tasks *tasks, const struct cpu *cpu,
		const struct guest_memory *memory, unsigned int vcpu,
		struct recording_process *process);

#endif
