/* Page tables with long or short descriptors (tables_long.c, tables_short.c). */
#ifndef TABLES_H
#define TABLES_H

#include "guest.h"

/* The format of the guest's page tables. */
struct paging {
	unsigned int granule; /* bits of an address within a page: 12, 14 or 16 */
	unsigned int bits;    /* bits of an address within its half */
	bool wide;  /* whether entries have bits of an address in PTE_SHARED's place */
	bool split; /* whether the high half has separate tables */
};

/* The registers that page tables need: start64.S and start32.S load them. */
struct boot_registers {
	uint64_t ttbr0, ttbr1;
	unsigned long tcr, mair;
};

/* Adjusts the requested format to the abilities of the CPU. */
void tables_choose(struct paging *paging);
void tables_init(const struct paging *paging, struct boot_registers *registers);

/* Maps size bytes at phys to virt, by the largest pages that fit. The three numbers are
 * multiples of a page's size. */
void tables_fill(unsigned long virt, uint64_t phys, uint64_t size);
/* Returns the size of a block, which an entry at level 2 maps. */
uint64_t tables_block(void);

/* memory.c */

const struct paging *memory_paging(void);

/* Returns a new table of zeros, aligned to its size. */
void *memory_new_table(size_t size);
/* Returns the virtual address of a guest-physical address within the image. */
void *memory_pointer(uint64_t phys);

#endif
