/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_KALLSYMS_H
#define UNIPROF_RECORD_LINUX_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/chain.h"
#include "record/linux/kallsyms_names.h"

/*
 * Looks for the names of a Linux kernel's functions, which the kernel has in its memory
 * (CONFIG_KALLSYMS; Linux 4.20 and later, x86-64 and arm64), and copies them while the
 * guest runs. No file is needed. Nothing there is trusted: at worst, a hostile guest gets
 * other names.
 */
struct kallsyms_search;

/* Limit of map calls in one kallsyms_look() */
#define KALLSYMS_MAPS 2048

/* Starts with nothing known; NULL if out of memory. */
struct kallsyms_search *kallsyms_search_new(void);
/* @search may be NULL. */
void kallsyms_search_free(struct kallsyms_search *search);

/* Returns whether kallsyms_look() is due: the names are not known yet. @now: ns,
 * monotonic. */
bool kallsyms_are_due(const struct kallsyms_search *search, uint64_t now);

/* Returns whether every way to search has failed once. Later searches are for a kernel
 * that boots meanwhile. */
bool kallsyms_were_sought(const struct kallsyms_search *search);

/*
 * Goes on with the search in the kernel's memory, from an address of its @code. @cpu has
 * registers by which that memory can be read (record/linux/kernel_seen.h). Takes bounded
 * time; a whole search takes some ten calls. Gives up after some searches that found
 * nothing.
 */
void kallsyms_look(struct kallsyms_search *search, const struct cpu *cpu,
		   const struct guest_memory *memory, uint64_t code, uint64_t now);

/* Returns the names if they are complete and were not taken yet; else NULL. */
const struct kallsyms *kallsyms_get(const struct kallsyms_search *search);

/* Returns the names once they are complete, to be freed with kallsyms_free(); NULL: they
 * are not, or were taken already. */
struct kallsyms *kallsyms_take(struct kallsyms_search *search);

#endif
