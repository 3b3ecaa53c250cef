/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_TABLE_ORC_H
#define UNIPROF_UNWIND_TABLE_ORC_H

#include "unwind/table/table.h"

/*
 * Adds the rules of a Linux kernel for x86-64 (vmlinux): its own tables for unwinding,
 * called ORC, in the sections .orc_unwind_ip and .orc_unwind (Linux 4.14 and later). At
 * the end of a system call, an exception or an interrupt, they lead to the code that was
 * interrupted. There are no rules for the page at @hypercalls, which Xen fills at run
 * time (0: none). @offset is added to the file's addresses. *@rows: the number of rows,
 * those without a rule included; 0 if the file has no such sections. -1 with one line in
 * @err, which starts with @path, if they are damaged, or over the limits of tables.
 */
int unwind_table_add_orc(struct unwind_builder *builder, const char *path,
			 const void *data, size_t size, uint64_t offset,
			 uint64_t hypercalls, size_t *rows, struct error *err);

#endif
