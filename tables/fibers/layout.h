/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_FIBERS_LAYOUT_H
#define UNIPROF_TABLES_FIBERS_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The value of an address or offset that a system does not have. */
#define FIBER_NONE UINT64_MAX

/* Maximum number of words that a thread leaves on its stack. */
#define FIBER_FRAME 16
/* A word of the frame that has no register. */
#define FIBER_SKIP 0xff
/* The word of the frame with the address at which the thread goes on. On arm64 it is in
 * the link register, 30. */
#define FIBER_RETURN_X86   16
#define FIBER_RETURN_ARM64 30

/*
 * Where a unikernel has its threads, which switch by themselves, and what it keeps of one
 * that does not run. Addresses are those in the unikernel's file; offsets are in bytes.
 * Only numbers.
 */
struct fiber_layout {
	/* The list of threads, or, if there are schedulers, a pointer to the first one;
	 * never 0. A list is a pointer to the first thread and one to the last link; a
	 * link is a pointer to the next thread and one to what leads to this one (BSD's
	 * TAILQ). */
	uint64_t list;
	/* Members of a scheduler: its list of threads, the next scheduler; FIBER_NONE */
	uint64_t sched_list, sched_next;
	/* Pointers to the threads that run, one for each CPU, and how many; FIBER_NONE:
	 * the last thread of the list runs, and a pointer to it is at the bottom of its
	 * stack, of @stack_size bytes, which starts at a multiple of that size. */
	uint64_t current, currents;
	uint64_t stack_size;
	uint64_t switch_code; /* the function that switches from a thread to another */
	/* Members of a thread: its link, the address of its name, flags (32 bits), stack
	 * pointer, where it goes on, bottom of its stack. */
	uint64_t link, name, flags, sp, ip, stack;
	/* Likewise, of 64 bits: when it wakes up, how long it has run; FIBER_NONE */
	uint64_t wakeup, runtime;
	uint64_t runnable, exited; /* bits of the flags; 0: there is no such flag */
	/* What a thread leaves at its stack pointer in the function that switches: the
	 * number of a register and 1 for each word, or FIBER_SKIP; 0 after the last. */
	uint64_t frame[FIBER_FRAME];
};

/* Maximum number of layouts for one file, of which at most one is right. */
#define FIBER_LAYOUTS 4

/* Offsets in a struct are below this. */
#define FIBER_OFFSET_MAX 0x10000

/* How far code of the function that switches can be from its start, bytes */
#define FIBER_SWITCH_MAX 256

/* Whether the numbers are within their limits, and so can be used. */
bool fiber_layout_is_valid(const struct fiber_layout *layout);

/* What an ELF file has, for fiber_layouts_find(). */
struct fiber_file {
	const void *data; /* with symbols and, perhaps, DWARF */
	size_t size;
};

/*
 * Finds out by the descriptions that uniprof has which system's threads an ELF file has,
 * and where. If it has DWARF, the members of structs are from there, and there is one
 * layout at most; without it, they are those of known versions, and only the guest's
 * memory tells which one is right. Returns the number of @layouts.
 */
size_t fiber_layouts_find(struct fiber_layout layouts[FIBER_LAYOUTS],
			  const struct fiber_file *file);

#endif
