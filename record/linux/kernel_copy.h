/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_KERNEL_COPY_H
#define UNIPROF_RECORD_LINUX_KERNEL_COPY_H

#include "arch/arch.h"
#include "base/chain.h"

/*
 * Copies parts of a Linux kernel's memory while the guest runs, a little at a time.
 * Starts as zeros.
 */
#define KERNEL_PARTS 4
struct kernel_copy {
	struct kernel_part {
		uint64_t address;
		size_t size; /* bytes; 0: there is none */
	} part[KERNEL_PARTS];
	size_t size;	/* of all parts, bytes; 0: nothing is to be copied, or done */
	uint8_t *bytes; /* copies of the parts, one after the other; owned */
	size_t done;	/* bytes copied */
	unsigned int missing; /* looks that found a page missing */
	uint64_t due;	      /* time of the next look, ns, monotonic */
};

/* Limit of map calls in one kernel_copy_look(), and of its CPU time, ns */
#define KERNEL_COPY_MAPS 2048
#define KERNEL_LOOK_NS	 2000000

/* Starts to copy the parts, which are set; if there is no memory, nothing is due. */
void kernel_copy_begin(struct kernel_copy *copy);

/* Ends with what is copied, or without. */
void kernel_copy_end(struct kernel_copy *copy);

/* Returns whether kernel_copy_look() is due: there is something left to copy or to do
 * with the copy. @now: ns, monotonic. */
bool kernel_copy_is_due(const struct kernel_copy *copy, uint64_t now);

/* Copies the next pages, up to KERNEL_LOOK_NS. @cpu has registers by which the kernel's
 * memory can be read. Ends the copy
 * after some looks that found a page missing. True if all was there before. */
bool kernel_copy_look(struct kernel_copy *copy, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t now);

/* Sets when the next look is due, after one at @now that has lasted since the thread's
 * CPU time was @begun. */
void kernel_copy_rest(struct kernel_copy *copy, uint64_t now, uint64_t begun);

#endif
