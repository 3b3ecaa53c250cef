/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_MODULE_LIST_H
#define UNIPROF_RECORD_LINUX_MODULE_LIST_H

#include "arch/arch.h"
#include "tables/linux/layout.h"

/*
 * The modules of a Linux kernel for x86-64, read from a guest's memory while it runs.
 * Nothing there is trusted: at worst, a hostile guest has other modules in its list.
 */

/* Where the kernel has its modules, code and data. It exports no symbol that leads to
 * their list. (Linux, Documentation/arch/x86/x86_64/mm.rst; kernels that can't move have
 * them from the first address on, others from LINUX_END on.) */
#define MODULES_START 0xffffffffa0000000u
#define MODULES_END   0xffffffffff000000u

/* Modules in a list, at most. Large distributions' kernels have some 200. */
#define MODULES_MAX 1024

/* A module, and its tables for unwinding; addresses are the guest's. */
struct module_entry {
	uint64_t start, size; /* of its code */
	uint64_t ips, rows;   /* see struct module_layout */
	uint32_t orcs;	      /* rows; 0 as long as it is being loaded */
};

/* Memory that is looked at, with a limit. */
struct module_view {
	const struct cpu *cpu; /* in an address space that has the kernel */
	const struct guest_memory *memory;
	const struct module_layout *layout;
	unsigned int left; /* of words that may be read */
};

/* Enough for the longest list, twice. */
#define MODULE_WORDS (24u * MODULES_MAX)

/* Where the list is looked for. Starts zeroed, and can then be used again and again. */
struct module_scan {
	uint64_t start;	   /* 0: not begun */
	unsigned int page; /* the number of the next one */
};

/* Pages that a call of module_list_scan() looks at, and that all together do, on both
 * sides of the address. */
#define MODULE_SCAN_PAGES 512
#define MODULE_SCAN_ALL	  (64u * MODULE_SCAN_PAGES)

/*
 * Looks for the head of the list, the kernel's variable `modules`: for any struct module
 * in the pages around @address, which is in the code of one, that is in a circular list.
 * To be repeated until @scan starts again (NULL: the address of the head was not found).
 * Returns the head's address or 0.
 */
uint64_t module_list_scan(struct module_scan *scan, struct module_view *view,
			  uint64_t address);

/* Reads the list, the newest module first; @entry has room for MODULES_MAX. Returns their
 * number; 0 if it is not whole, as while the guest changes it, or has too many. */
size_t module_list_read(struct module_view *view, uint64_t head,
			struct module_entry *entry);

/* Reads only the newest module: if that is the same, none was loaded since. */
bool module_list_newest(struct module_view *view, uint64_t head,
			struct module_entry *entry);

#endif
