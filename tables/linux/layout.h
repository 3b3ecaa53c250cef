/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_LINUX_LAYOUT_H
#define UNIPROF_TABLES_LINUX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a Linux kernel for x86-64 has the tasks that its CPUs execute. Addresses are
 * those in its file; offsets are in bytes.
 */
struct task_layout {
	/* The array __per_cpu_offset: for each CPU, what to add to the address of a
	 * variable that each CPU has. */
	uint64_t per_cpu;
	/* The variable with the address of the CPU's task, a struct task_struct. */
	uint64_t current;
	/* Members of it: process id, name, and the addresses of the first thread of its
	 * process and of its memory, a struct mm_struct. */
	uint64_t tgid, comm, group_leader, mm;
	uint64_t pgd; /* of that: the address of its first page table */
};

/* Offsets in a struct are below this. */
#define TASK_OFFSET_MAX 0x10000

/*
 * Finds them in an ELF file (vmlinux): members of structs by BTF, and addresses by the
 * symbols that the kernel exports to modules, which are not stripped. Needs Linux 5.4 or
 * later with BTF (CONFIG_DEBUG_INFO_BTF). False if something is missing or damaged.
 */
bool task_layout_find(struct task_layout *layout, const void *data, size_t size);

/* Whether offsets are within their limit, and so can be used. */
bool task_layout_is_valid(const struct task_layout *layout);

#endif
