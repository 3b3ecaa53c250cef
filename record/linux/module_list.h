/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LINUX_MODULE_LIST_H
#define UNIPROF_RECORD_LINUX_MODULE_LIST_H

#include "arch/arch.h"
#include "tables/linux/layout.h"

/*
 * Reads the modules of a Linux kernel for x86-64 from a guest's memory while it runs.
 * Nothing there is trusted: at worst, a hostile guest has other modules in its list.
 */

/* The addresses of the code and data of modules (Linux,
 * Documentation/arch/x86/x86_64/mm.rst; kernels that can't move have modules from the
 * first address on, others from LINUX_END on). No exported symbol leads to their list. */
#define MODULES_START 0xffffffffa0000000u
#define MODULES_END   0xffffffffff000000u

/* Maximum number of modules in a list; large distributions' kernels have some 200 */
#define MODULES_MAX 1024

/* A module, and its tables for unwinding; addresses are the guest's. */
struct module_entry {
	uint64_t start, size; /* address and bytes of its code */
	uint64_t ips, rows;   /* see struct module_layout */
	uint32_t orcs;	      /* number of rows; 0 while the module is being loaded */
};

/* A guest's memory, of which a limited number of words may be read. */
struct module_view {
	const struct cpu *cpu; /* a CPU in an address space that has the kernel */
	const struct guest_memory *memory;
	const struct module_layout *layout;
	unsigned int left; /* number of words that may still be read */
};

/* Number of words for a view: enough to read the longest list twice */
#define MODULE_WORDS (24u * MODULES_MAX)

/* The state of a search for the list. Starts zeroed, and is zero again at its end. */
struct module_scan {
	uint64_t start;	   /* address of the middle page; 0: not begun */
	unsigned int page; /* number of the next page to look at */
};

/* Number of pages that one call of module_list_scan() looks at, and number that the whole
 * search looks at, on both sides of the address */
#define MODULE_SCAN_PAGES 512
#define MODULE_SCAN_ALL	  (64u * MODULE_SCAN_PAGES)

/*
 * Looks for the head of the list, the kernel's variable `modules`: for a struct module
 * that is in a circular list, in the pages around @address, which is in a module's code.
 * Returns the head's address, or 0. After 0, the next call continues the search, unless
 * @scan is zero again, which means that there is no such list.
 */
uint64_t module_list_scan(struct module_scan *scan, struct module_view *view,
			  uint64_t address);

/* Reads the list, the newest module first; @entry has room for MODULES_MAX. Returns
 * the number of modules; 0 if the list is too long, or not complete, for example
 * because the guest is changing it. */
size_t module_list_read(struct module_view *view, uint64_t head,
			struct module_entry *entry);

/* Reads only the newest module: as long as it does not change, no module was loaded. */
bool module_list_newest(struct module_view *view, uint64_t head,
			struct module_entry *entry);

#endif
