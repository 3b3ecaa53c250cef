/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_LEARNING_H
#define UNIPROF_RECORD_LEARNING_LEARNING_H

#include "guest/guest.h"
#include "record/learning/code_search.h"
#include "record/learning/returns.h"
#include "record/learning/settled.h"
#include "record/learning/starts.h"
#include "record/learning/table_check.h"
#include "record/linux/kallsyms.h"
#include "record/linux/kernel_orc.h"
#include "record/linux/kernel_seen.h"
#include "record/linux/kernel_types.h"
#include "record/linux/mapped.h"
#include "record/linux/modules.h"
#include "record/linux/tasks.h"
#include "record/sampling.h"
#include "record/threads/fibers.h"
#include "unwind/stack/stack.h"
#include "unwind/unwind.h"

/*
 * What is learned about a guest between two pauses, from the samples of the last pause
 * and the memory of the running guest: the rules by which its chains are found, and the
 * names of its processes and of its kernel's functions. Nothing here runs while the guest
 * is paused. Internal, but part of the sampler's memory.
 */
struct learning {
	struct guest *guest;
	struct code_notes notes;
	struct table_check table;
	struct code_search code;
	struct x86_entries entries;
	struct starts starts;
	struct return_notes returns;
	struct settled settled;
	uint64_t studied;	 /* time of the last study, ns, monotonic */
	uint32_t renewals;	 /* times that there were new tables */
	bool uses_kernel;	 /* the table's Linux kernel was found */
	struct modules *modules; /* modules of its Linux kernel; NULL: not known */
	struct tasks tasks;
	struct mapped *mapped;		   /* files of its processes; NULL: not known */
	struct process_mappings *mappings; /* new ones; NULL: none */
	struct fibers fibers;		   /* of a unikernel */
	struct kernel_seen kernel;	   /* the last sample in a Linux kernel */
	struct kallsyms_search *kallsyms;  /* NULL: no names are looked for */
	struct kernel_orc orc;	     /* of its Linux kernel, if no file's table has it */
	struct kernel_types types;   /* likewise */
	struct stack_filter *filter; /* NULL unless stacks are captured */
};

/* Starts with nothing known, on memory that is all zero. -1 if out of memory;
 * learning_close() must follow in any case. */
int learning_open(struct learning *learning, struct guest *guest,
		  const struct sampling *sampling, struct error *err);
void learning_close(struct learning *learning);

/* Returns the input for unwinding: what is known of the guest, and its memory, whose
 * pages @page returns. Valid until the next call of a function below. */
struct unwind_input learning_input(struct learning *learning,
				   const void *(*page)(void *memory, uint64_t frame));

/* Checks at times whether the guest runs the programs of its table, and where. True if
 * there is a table of more of them from now on: the chains of @round, the last one, were
 * found without it. */
bool learning_check_table(struct learning *learning, const struct round *round);

/* Completes a round's samples, as soon after the pause as possible: makes chains of the
 * captured stacks, and adds pids and names of processes. */
void learning_complete(struct learning *learning, struct round *round);

/*
 * Learns what the chains of a round tell about the guest's code. Ends chains at addresses
 * that turn out not to be return addresses, and sets @round->found_code. True if there
 * are new tables, which lead the next chains through other memory.
 */
bool learning_study(struct learning *learning, struct round *round);

/* Learns what the chain of a thread that waits tells about the kernel's modules; @cpu has
 * its registers. True if there is a new table of them. */
bool learning_study_wait(struct learning *learning, const struct cpu *cpu,
			 const struct chain *chain, uint64_t now);

/* Returns the names of the guest's Linux kernel once, when they are complete; to be freed
 * with kallsyms_free(). NULL: there are none, or not yet. */
struct kallsyms *learning_take_kallsyms(struct learning *learning);

/* Returns the mappings of a process that were read last, once; to be freed with free().
 * NULL: there are none. */
struct process_mappings *learning_take_mappings(struct learning *learning);
/* Has the mappings of all processes read again. */
void learning_forget_mappings(struct learning *learning);

/* Looks for these names at once, from code that the chain goes through; @cpu has the
 * registers there. Takes two seconds at most. They are valid until learning_close();
 * NULL if they are not found, or were taken. */
const struct kallsyms *learning_find_kallsyms(struct learning *learning,
					      const struct cpu *cpu,
					      const struct chain *chain);

/* Finds the names and the tables of a Linux kernel without a file at once, if a chain of
 * the round is in it. @has_names: the table's files have names, so none are looked for in
 * a kernel that they describe. True if there is a new table. */
bool learning_find_kernel(struct learning *learning, const struct round *round,
			  bool has_names);

/* Returns these names if they were found and not taken; else NULL. */
const struct kallsyms *learning_kallsyms(const struct learning *learning);

/* Returns the table of programs in use; NULL if there is none, or not yet. */
const struct placed_table *learning_table(const struct learning *learning);
/* Lists address spaces of programs at one address, as spaces_rivals(). */
size_t learning_rivals(const struct learning *learning, struct rival_space *list,
		       size_t most);
/* Returns which programs of the table the address space has, and where; the whole table
 * if the address space was never looked at, NULL if there is no table. */
const struct placed_table *learning_table_in(const struct learning *learning,
					     uint64_t space);
/* Returns the programs that the address space may have where learning_table() has them, a
 * bit each. */
uint64_t learning_programs(const struct learning *learning, uint64_t space);

/* Returns the table of the Linux kernel that is made from its memory; NULL: there is
 * none, or not yet. */
const struct unwind_table *learning_kernel(const struct learning *learning);

/* Returns the number of files whose programs are in that table. */
size_t learning_files(const struct learning *learning);

/* Returns the address in the guest of the symbol _text of the Linux kernel that the table
 * in use describes; 0: not known. */
uint64_t learning_linux(const struct learning *learning);

#endif
