/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_ARCH_TEST_RISCV_H
#define UNIPROF_TESTS_UNIT_ARCH_TEST_RISCV_H

/* Shared by the tests of RISC-V guests: a guest's memory, and page tables in it. */

#define GUEST_CPU struct riscv_cpu
#include "tests/unit/arch/test_guest.h"

#define SUPERVISOR 1
#define VALID	   0x1ull
#define READ	   0x2ull
#define WRITE	   0x4ull
#define EXECUTE	   0x8ull
#define PAGE	   (VALID | READ | WRITE | EXECUTE)

/* A translation: satp's mode and how an address is split, from the first table on. */
struct mode {
	uint64_t number;
	unsigned int levels;
	unsigned int shift[5];
};

static const struct mode sv39 = {8, 3, {30, 21, 12}};
static const struct mode sv48 = {9, 4, {39, 30, 21, 12}};
static const struct mode sv57 = {10, 5, {48, 39, 30, 21, 12}};

/* An empty guest in this mode; without one, addresses are physical. */
static inline struct guest *guest_new(const struct mode *mode)
{
	struct guest *guest = guest_empty(mode);

	guest->cpu.priv = SUPERVISOR;
	if (mode)
		guest->cpu.satp = mode->number << 60 | 0xffffull << 44 | guest->next++;
	return guest;
}

/* The entry for @address in the table at @level, 0 for the first; missing tables above it
 * are created. */
static inline uint64_t *entry_of(struct guest *guest, uint64_t address,
				 unsigned int level)
{
	uint64_t frame = guest->cpu.satp & 0xfffff;

	for (unsigned int i = 0;; i++) {
		uint64_t *table = (uint64_t *)(void *)guest->page[frame];
		uint64_t *entry = &table[address >> guest->mode->shift[i] & 511];

		if (i == level)
			return entry;
		if (!*entry) {
			assert_true(guest->next < FRAMES);
			*entry = guest->next++ << 10 | VALID;
		}
		frame = *entry >> 10;
		assert_true(frame < FRAMES);
	}
}

/* Maps a page of the size of @level. */
static inline void map(struct guest *guest, uint64_t address, uint64_t physical,
		       unsigned int level)
{
	*entry_of(guest, address, level) = physical >> 12 << 10 | PAGE;
}

/* Maps 4 KiB to the next free frame. */
static inline void map_new(struct guest *guest, uint64_t address)
{
	assert_true(guest->next < FRAMES);
	map(guest, address, guest->next++ << GUEST_PAGE_SHIFT, guest->mode->levels - 1);
}

#endif
