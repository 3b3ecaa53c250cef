/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_MAPPED_H
#define UNIPROF_RECORD_LINUX_MAPPED_H

#include "base/chain.h"
#include "record/linux/mappings.h"
#include "record/linux/tasks.h"

/*
 * Keeps track of the files that the processes of a guest have in their memory. Each
 * process is looked at when it is first seen, and again when it executes code that is in
 * none of these files.
 */
struct mapped;

/* Starts with no process; NULL if out of memory. @layout must outlive the result. */
struct mapped *mapped_new(const struct mapping_layout *layout);
/* @mapped may be NULL. */
void mapped_free(struct mapped *mapped);

/* Forgets all processes, so that they are looked at again. */
void mapped_forget(struct mapped *mapped);

/* Returns whether the process, which executes the @chain, is to be looked at. @now: ns,
 * monotonic. */
bool mapped_is_due(const struct mapped *mapped, const struct recording_process *process,
		   const struct chain *chain, uint64_t now);

/*
 * Looks at the process, by a task in @tasks. Returns its mappings if they are new, to be
 * freed with free(); NULL if not, if they can't be read now, or if out of memory. @cpu
 * has a vCPU's registers. Takes bounded time; on average, 2 % of a CPU.
 */
struct process_mappings *mapped_look(struct mapped *mapped, const struct tasks *tasks,
				     const struct cpu *cpu,
				     const struct guest_memory *memory,
				     const struct recording_process *process,
				     uint64_t now);

#endif
