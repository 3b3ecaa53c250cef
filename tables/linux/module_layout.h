/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_LINUX_MODULE_LAYOUT_H
#define UNIPROF_TABLES_LINUX_MODULE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a Linux kernel for x86-64 has what it knows of a module: offsets in struct module
 * (Linux, include/linux/module.h), in bytes.
 */
struct module_layout {
	uint64_t list; /* the link to the next one, in the list of all; never 0 */
	uint64_t state, name;
	uint64_t base, size; /* of its code */
	/* Of its tables for unwinding (ORC): the number of rows, and the addresses of
	 * what the sections .orc_unwind_ip and .orc_unwind have. */
	uint64_t orcs, ips, rows;
};

/* A struct module starts at a multiple of this, and its link is in that part of it. */
#define MODULE_ALIGN 64

/* Offsets in a struct module are below this. */
#define MODULE_OFFSET_MAX 0x10000

/*
 * Finds them in an ELF file (vmlinux) by its types (BTF). False if something is missing
 * or damaged.
 */
bool module_layout_find(struct module_layout *layout, const void *data, size_t size);

/* Whether offsets are within their limits, and so can be used. */
bool module_layout_is_valid(const struct module_layout *layout);

#endif
