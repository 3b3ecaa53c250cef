/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_KERNEL_TYPES_H
#define UNIPROF_RECORD_LINUX_KERNEL_TYPES_H

#include "record/linux/kallsyms_names.h"
#include "record/linux/kernel_copy.h"
#include "tables/linux/layout.h"

/*
 * Copies the types of a Linux kernel for x86-64 or arm64 (BTF) from its memory while the
 * guest runs, and finds out by them where it has its tasks, modules and threads. No file
 * is needed: the kernel's own names say where they are (CONFIG_KALLSYMS_ALL). Nothing
 * there is trusted: at worst, a hostile guest gives its processes other names. Starts as
 * zeros.
 */
struct kernel_types {
	struct kernel_copy copy;
	uint64_t symbols[LINUX_SYMBOLS];
	struct linux_layouts layouts; /* zeros: not known, or not yet */
};

void kernel_types_free(struct kernel_types *types);

/* Finds the types by the kernel's names. */
void kernel_types_find(struct kernel_types *types, const struct kallsyms *kallsyms);

/* Copies the next pages, or makes the layouts, which takes some milliseconds. @cpu has a
 * vCPU's registers. True if there are layouts now. */
bool kernel_types_look(struct kernel_types *types, const struct cpu *cpu,
		       const struct guest_memory *memory, uint64_t now);

#endif
