/* Page tables, of long or of short descriptors (tables_long.c, tables_short.c). */
#ifndef TABLES_H
#define TABLES_H

#include "guest.h"

/* What a guest's memory is mapped by. */
struct paging {
	unsigned int granule; /* bits of an address within a page: 12, 14 or 16 */
	unsigned int bits;    /* of all addresses of a half */
	bool wide;  /* whether entries have bits of an address in PTE_SHARED's place */
	bool split; /* whether the high half has tables of its own */
};

/* The registers that page tables need: start64.S and start32.S load them. */
struct boot_registers {
	uint64_t ttbr0, ttbr1;
	unsigned long tcr, mair;
};

/* Makes what the CPU can do of what was asked for. */
void tables_choose(struct paging *paging);
void tables_init(const struct paging *paging, struct boot_registers *registers);

/* Maps size bytes at phys to virt, by the largest pages that fit. All are multiples of a
 * page's size. */
void tables_fill(unsigned long virt, uint64_t phys, uint64_t size);
/* The size of a block: what an entry at level 2 maps. */
uint64_t tables_block(void);

/* memory.c */

const struct paging *memory_paging(void);

/* A new table of zeros, aligned to its size. */
void *memory_new_table(size_t size);
/* Where what is at a guest-physical address within the image can be read. */
void *memory_pointer(uint64_t phys);

#endif
