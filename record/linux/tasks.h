/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_TASKS_H
#define UNIPROF_RECORD_LINUX_TASKS_H

#include "arch/arch.h"
#include "format/recording.h"
#include "tables/linux/layout.h"

/* A task is remembered for TASK_WAYS address spaces in each of TASK_SETS sets. */
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
	const struct task_layout *layout;    /* NULL: not known */
	const struct thread_layout *threads; /* NULL: not known */
	uint64_t shift; /* distance of the kernel from its file's addresses, bytes */
	/* seen tasks, in sets chosen by the space; in a set, the task seen last is
	 * first */
	struct seen_task seen[TASK_SETS][TASK_WAYS];
};

/* Returns the number of the set of an address space. */
static inline size_t tasks_set(uint64_t space)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	uint64_t hash = (space >> GUEST_PAGE_SHIFT) * 0x9e3779b97f4a7c15u >> 32;

	return hash % TASK_SETS;
}

/* Limit of map calls in one tasks_name() */
#define TASK_MAPS 64

/*
 * Sets pid and name in @process, whose address space is known. They are from the task
 * that @vcpu executes now or, if that task is in another space, from the task that was
 * last seen in the space and still has it. The thread is set only if it executes now.
 * @cpu has the vCPU's registers at the sample. Leaves pid and name unknown if neither
 * task is certain, because the guest has gone on meanwhile.
 */
void tasks_name(struct tasks *tasks, const struct cpu *cpu,
		const struct guest_memory *memory, unsigned int vcpu,
		struct recording_process *process);

/*
 * Sets *@mm to the struct mm_struct of the process, by the task that was last seen in its
 * address space, and the page tables of @cpu, which has a vCPU's registers, to its. False
 * if it is not known, or is not a process any more.
 */
bool tasks_memory(const struct tasks *tasks, struct cpu *cpu,
		  const struct guest_memory *memory,
		  const struct recording_process *process, uint64_t *mm);

#endif
