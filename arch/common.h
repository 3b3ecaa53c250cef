/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_COMMON_H
#define UNIPROF_ARCH_COMMON_H

#include <stdint.h>

/* Shared by all CPUs: a guest's memory, page by page, and registers as shown. */

#define GUEST_PAGE_SHIFT 12
#define GUEST_PAGE_SIZE	 (1u << GUEST_PAGE_SHIFT)

/* Where a guest's pages come from. */
struct guest_memory {
	/*
	 * The 4 KiB page with the guest frame number @frame (a machine frame for a PV
	 * guest), readable until the next call. NULL if it is not available; the reason
	 * is then in @context.
	 */
	const void *(*page)(void *context, uint64_t frame);
	void *context;
};

/* Maximum number of guest_memory.page() calls per address: 5 tables and the page. */
#define READ_PAGES_MAX (5 + 1)

/* The table in which a translation has ended, so that one of an address close to it can
 * begin there. Starts zeroed. */
struct last_table {
	uint64_t start;	    /* the first address that it maps */
	uint64_t size;	    /* of these addresses, bytes; 0: no table is known */
	uint64_t address;   /* the table's own, guest-physical */
	unsigned int level; /* 1: its entries are pages of the smallest size */
};

/* How a translation ended. */
enum translation {
	TRANSLATED,
	NOT_PRESENT,   /* the guest maps nothing at that address */
	NOT_CANONICAL, /* not a valid address in this mode */
	NO_PAGE,       /* guest_memory.page() returned NULL */
};

/* Reads a word exactly once, because a shared page can change even while the guest is
 * paused. @size is 2, 4 or 8 bytes. */
static inline uint64_t guest_word(const void *page, unsigned int offset,
				  unsigned int size)
{
	const char *at = (const char *)page + offset;

	switch (size) {
	case 2:
		return *(const volatile uint16_t *)at;
	case 4:
		return *(const volatile uint32_t *)at;
	default:
		return *(const volatile uint64_t *)at;
	}
}

/* A register's name and value, for display. */
struct register_value {
	const char *name;
	uint64_t value;
};

/* Maximum number of registers of any CPU. */
#define REGISTERS_MAX 48

#endif
