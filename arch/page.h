/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_ARCH_PAGE_H
#define UNIPROF_ARCH_PAGE_H

#include <stdint.h>

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

#endif
