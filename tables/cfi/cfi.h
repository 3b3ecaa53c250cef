/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_CFI_CFI_H
#define UNIPROF_TABLES_CFI_CFI_H

#include "base/error.h"
#include "tables/build.h"

/* Counts of the contents of an ELF file's call frame information. */
struct cfi_summary {
	size_t functions; /* ranges of code that it describes */
	size_t damaged;	  /* entries that were skipped, in whole or from some point on */
	size_t rows;	  /* rules, each for a range of addresses */
	size_t unknown;	  /* rules that were left out: a table can't express them */
};

/*
 * Adds the rules of an ELF file's .eh_frame, then of its .debug_frame. The file is a
 * program or library for x86-64 or AArch64, or its debug file. @offset is added to its
 * addresses. Entries for addresses outside of the file's code are ignored, because
 * linkers leave such entries for functions they have removed. @path is for messages. -1
 * with one line in @err, which starts with @path, if it is not such a file, has no call
 * frame information, or has too much of it.
 */
int unwind_table_add_cfi(struct unwind_builder *builder, const char *path,
			 const void *data, size_t size, uint64_t offset,
			 struct cfi_summary *summary, struct error *err);

#endif
