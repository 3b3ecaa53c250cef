/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_KERNEL_ORC_H
#define UNIPROF_RECORD_LINUX_KERNEL_ORC_H

#include "record/linux/kernel_copy.h"
#include "record/linux/kallsyms_names.h"
#include "tables/build.h"

/* What is copied. */
enum {
	ORC_IPS,
	ORC_ROWS,
	ORC_ENTRIES, /* code of entries, for the rules that rows lack */
	ORC_THUNKS,  /* code of retpolines, for the rules that rows lack */
	ORC_PARTS
};

/*
 * Copies the tables by which a Linux kernel for x86-64 unwinds itself, called ORC, and
 * the code of its entries, from its memory while the guest runs, and makes an unwind
 * table of them. No file is needed: the kernel's own names say where they are
 * (CONFIG_KALLSYMS_ALL). Nothing there is trusted: at worst, a hostile guest gets other
 * chains. Starts as zeros.
 */
struct kernel_orc {
	struct kernel_copy copy;	/* copy of the parts */
	struct unwind_builder *builder; /* makes the table; NULL: parts are missing yet */
	size_t added;			/* number of rows added to the table */
	struct unwind_table
		*table; /* locked in memory; NULL: there is none, or not yet */
};

void kernel_orc_free(struct kernel_orc *orc);

/* Finds the tables by the kernel's names, unless they are found already. */
void kernel_orc_find(struct kernel_orc *orc, const struct kallsyms *kallsyms);

/* Copies the next pages, or makes more of the table. Takes some milliseconds. @cpu has a
 * vCPU's registers. True if there is a table now. */
bool kernel_orc_look(struct kernel_orc *orc, const struct cpu *cpu,
		     const struct guest_memory *memory, uint64_t now);

#endif
