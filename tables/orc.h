/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_ORC_H
#define UNIPROF_TABLES_ORC_H

#include "base/error.h"
#include "symbols/code.h"
#include "tables/build.h"

/*
 * Adds the rules of a Linux kernel for x86-64 (vmlinux): its own tables for unwinding,
 * called ORC, in the sections .orc_unwind_ip and .orc_unwind (Linux 4.14 and later). At
 * the end of a system call, an exception or an interrupt, they lead to the code that was
 * interrupted. There are no rules for the page at @hypercalls, which Xen fills at run
 * time (0: none). @offset is added to the file's addresses. *@rows: the number of rows,
 * including rows without a rule; 0 if the file has no such sections. -1 with one line in
 * @err, which starts with @path, if they are damaged, or over the limits of tables.
 */
int unwind_table_add_orc(struct unwind_builder *builder, const char *path,
			 const void *data, size_t size, uint64_t offset,
			 uint64_t hypercalls, size_t *rows, struct error *err);

/* Bytes of a number in .orc_unwind_ip, and of a row in .orc_unwind. */
#define ORC_IP_SIZE  4
#define ORC_ROW_SIZE 6

/* The ORC tables of a kernel or its module, as copied from a guest's memory. */
struct orc_module {
	const uint8_t *ips, *rows;
	size_t count;	     /* of each */
	uint64_t address;    /* where the guest has ips */
	uint64_t start, end; /* of the module's code: there are no rules outside */
	struct code code;    /* of entries and retpolines, as far as it is known */
};

/* Adds their rules. -1 if out of memory, or over the limits of tables. */
int unwind_table_add_orc_module(struct unwind_builder *builder,
				const struct orc_module *module);

#endif
