/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_LINUX_LAYOUT_H
#define UNIPROF_TABLES_LINUX_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Where a Linux kernel for x86-64 has its tasks and modules. Addresses are those in the
 * kernel's file; offsets in a struct are in bytes.
 */

/* Start of the kernel's half of the addresses */
#define KERNEL_START ((uint64_t)1 << 63)

/* Where the tasks are that the CPUs execute. */
struct task_layout {
	/* The array __per_cpu_offset: for each CPU, what to add to the address of a
	 * variable that each CPU has; never 0 */
	uint64_t per_cpu;
	/* The variable with the address of the CPU's task, a struct task_struct. */
	uint64_t current;
	/* Members of struct task_struct: process id, name, and the addresses of the
	 * process's first thread and of its memory, a struct mm_struct. */
	uint64_t tgid, comm, group_leader, mm;
	/* The member of struct mm_struct with the address of the first page table. */
	uint64_t pgd;
};

/*
 * Where all threads are, and what the kernel keeps of one that does not run (Linux,
 * include/linux/sched.h). Offsets of links are those of the members that links lead to.
 */
struct thread_layout {
	uint64_t init; /* address of the first task, init_task; never 0 */
	/* Members of struct task_struct: the link between processes, that between the
	 * threads of a process, what the threads of a process share. */
	uint64_t tasks, thread_node, signal;
	uint64_t thread_head; /* in struct signal_struct: the list of its threads */
	/* Members of struct task_struct: thread id, flags, state, state of a thread that
	 * ends, whether a CPU executes it, how often it was switched out (by itself, by
	 * others), the stack pointer. */
	uint64_t pid, flags, state, exit_state, on_cpu, switches, preemptions, sp;
	uint64_t ran; /* likewise: when it was last known to run, the guest's ns */
	/* Members of the frame at the stack pointer, struct inactive_task_frame. On arm64
	 * there is none, and these are members of struct task_struct, too: bx is the
	 * first one of x19 to x28, bp is x29, and return_address the program counter. */
	uint64_t bx, bp, r12, r13, r14, r15, return_address;
};

/* Offsets in a struct task_struct are below this. */
#define TASK_OFFSET_MAX 0x10000

/* The kernel's description of a module: offsets in struct module (Linux,
 * include/linux/module.h). */
struct module_layout {
	uint64_t list; /* the link to the next module; never 0 */
	uint64_t state, name;
	uint64_t base, size; /* of the module's code */
	/* The module's tables for unwinding (ORC): the number of rows, and the addresses
	 * of the contents of its sections .orc_unwind_ip and .orc_unwind. */
	uint64_t orcs, ips, rows;
};

/* The alignment of a struct module, whose link is in its first MODULE_ALIGN bytes. */
#define MODULE_ALIGN 64

/* Offsets in a struct module are below this. */
#define MODULE_OFFSET_MAX 0x10000

/* How a process has its mappings, struct vm_area_struct. */
enum mapping_order {
	MAPPINGS_UNKNOWN,
	MAPPINGS_IN_LIST, /* each leads to the next one (until Linux 6.0) */
	MAPPINGS_IN_TREE, /* a maple tree (lib/maple_tree.c) has them */
};

/*
 * Where a process has its mappings of files (Linux, include/linux/mm_types.h, fs.h,
 * dcache.h and maple_tree.h, and fs/mount.h). All members but the first one are offsets
 * in bytes.
 */
struct mapping_layout {
	uint64_t order; /* enum mapping_order */
	uint64_t root;	/* in struct mm_struct: the first mapping, or the tree's root */
	/* Members of struct vm_area_struct: the next mapping, in a list; its addresses,
	 * flags, place in the file in pages, and file. */
	uint64_t next, start, end, flags, pgoff, file;
	uint64_t dentry, mnt; /* in struct file: its name, and the mount it is in */
	/* Members of struct dentry: the directory that it is in, the text of its name. */
	uint64_t parent, name;
	/* Members of struct mount: its struct vfsmount, the mount that it is in, and
	 * where; and in struct vfsmount, its uppermost directory. */
	uint64_t vfsmount, mount_parent, mountpoint, mount_root;
	/* Members of the tree's nodes, of which those above the leaves can also be of the
	 * second form: the last addresses of ranges, and what the ranges have. */
	uint64_t pivot, slot, wide_pivot, wide_slot;
};

/* Offsets in all of these are below this, and those in nodes below the second. */
#define MAPPING_OFFSET_MAX 0x10000
#define MAPPING_NODE_SIZE  256

/* What is known of a kernel; a layout of which something is missing or damaged is all 0.
 */
struct linux_layouts {
	struct task_layout tasks;
	struct module_layout modules;
	struct thread_layout threads;
	struct mapping_layout mappings;
};

/* The symbols whose addresses are needed, all of which are exported to modules. A kernel
 * has one of the second and the third. */
enum {
	LINUX_PER_CPU_OFFSET,
	LINUX_CURRENT_TASK,
	LINUX_PCPU_HOT,
	LINUX_INIT_TASK,
	LINUX_SYMBOLS
};
extern const char *const linux_symbols[LINUX_SYMBOLS];

/* Makes the layouts by a kernel's types (BTF, in kernels with CONFIG_DEBUG_INFO_BTF),
 * and the addresses of its symbols; 0: not known. */
void linux_layouts_make(struct linux_layouts *layouts, const void *types, size_t size,
			const uint64_t symbols[LINUX_SYMBOLS]);

/* Finds the layouts in an ELF file (vmlinux): by its types, and by the symbols that the
 * kernel exports to modules, which are not stripped (Linux 5.4 and later). */
void linux_layouts_find(struct linux_layouts *layouts, const void *data, size_t size);

/* Whether the addresses and offsets are within their limits, and so can be used. */
bool task_layout_is_valid(const struct task_layout *layout);
bool module_layout_is_valid(const struct module_layout *layout);
bool thread_layout_is_valid(const struct thread_layout *layout);
bool mapping_layout_is_valid(const struct mapping_layout *layout);

#endif
