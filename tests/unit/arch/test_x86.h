/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_ARCH_TEST_X86_H
#define UNIPROF_TESTS_UNIT_ARCH_TEST_X86_H

/*
 * Shared by the tests of arch/x86/cpu.c: a guest's memory, and page tables in it, written
 * by the rules of the Intel SDM, volume 3, chapter 4, for reading them.
 */

#define GUEST_CPU struct x86_cpu
#include "tests/unit/arch/test_guest.h"

#define PRESENT	  0x1ull
#define LARGE	  0x80ull
#define ALL_FLAGS 0xfffull /* of an entry, below the address */

/* A paging mode: how an address is split, from the top table on. */
struct mode {
	const char *name;
	uint64_t cr0, cr4, efer;
	unsigned int levels;
	unsigned int shift[5];
	unsigned int bits[5];
	unsigned int entry_size;
};

static const struct mode mode_32 = {
	"32-bit", X86_CR0_PG, 0, 0, 2, {22, 12}, {10, 10}, 4,
};
static const struct mode mode_32_pse = {
	"32-bit with PSE", X86_CR0_PG, X86_CR4_PSE, 0, 2, {22, 12}, {10, 10}, 4,
};
static const struct mode mode_pae = {
	"PAE", X86_CR0_PG, X86_CR4_PAE | X86_CR4_PSE, 0, 3, {30, 21, 12}, {2, 9, 9}, 8,
};
static const struct mode mode_4_level = {
	"4 levels", X86_CR0_PG,	      X86_CR4_PAE,  X86_EFER_LMA,
	4,	    {39, 30, 21, 12}, {9, 9, 9, 9}, 8,
};
static const struct mode mode_5_level = {
	"5 levels",	 X86_CR0_PG, X86_CR4_PAE | X86_CR4_LA57,
	X86_EFER_LMA,	 5,	     {48, 39, 30, 21, 12},
	{9, 9, 9, 9, 9}, 8,
};

/* An empty guest in this mode, its top table at frame 1. */
static inline struct guest *guest_new(const struct mode *mode)
{
	struct guest *guest = guest_empty(mode);

	if (mode) {
		guest->cpu.cr0 = mode->cr0;
		guest->cpu.cr3 = 1 << GUEST_PAGE_SHIFT;
		guest->cpu.cr4 = mode->cr4;
		guest->cpu.efer = mode->efer;
	}
	return guest;
}

static inline uint64_t get_entry(const struct guest *guest, const uint8_t *at)
{
	uint64_t entry = 0;

	memcpy(&entry, at, guest->mode->entry_size);
	return entry;
}

static inline void set_entry(const struct guest *guest, uint8_t *at, uint64_t entry)
{
	memcpy(at, &entry, guest->mode->entry_size);
}

/* The entry for @address in the table at @level, 0 for the top one; missing tables above
 * it are created. */
static inline uint8_t *entry_of(struct guest *guest, uint64_t address, unsigned int level)
{
	const struct mode *mode = guest->mode;
	uint8_t *table = guest->page[guest->cpu.cr3 >> GUEST_PAGE_SHIFT] +
			 (guest->cpu.cr3 & (GUEST_PAGE_SIZE - 1));

	for (unsigned int i = 0;; i++) {
		uint64_t index = address >> mode->shift[i] & ((1u << mode->bits[i]) - 1);
		uint8_t *at = table + index * mode->entry_size;

		if (i == level)
			return at;
		if (!(get_entry(guest, at) & PRESENT)) {
			assert_true(guest->next < FRAMES);
			set_entry(guest, at, guest->next++ << GUEST_PAGE_SHIFT | PRESENT);
		}
		table = guest->page[get_entry(guest, at) >> GUEST_PAGE_SHIFT];
	}
}

/* Maps the page of 1 << @shift bytes around @address to @frame and the following ones. */
static inline void map(struct guest *guest, uint64_t address, uint64_t frame,
		       unsigned int shift)
{
	uint64_t entry = frame << GUEST_PAGE_SHIFT | PRESENT;
	unsigned int level = 0;

	while (guest->mode->shift[level] != shift)
		level++;
	if (shift != GUEST_PAGE_SHIFT)
		entry |= LARGE;
	if (guest->mode->entry_size == 4) /* table 4-4: bits 39 to 32 in 20 to 13 */
		entry = (entry & 0xffffffff) | (entry >> 32 & 0xff) << 13;
	set_entry(guest, entry_of(guest, address, level), entry);
}

/* Maps a new page at @address, and returns its frame. */
static inline uint64_t map_new(struct guest *guest, uint64_t address)
{
	uint64_t frame = guest->next++;

	assert_true(frame < FRAMES);
	map(guest, address, frame, GUEST_PAGE_SHIFT);
	return frame;
}

/* Where the byte at @address is in the test's memory. The page is mapped. */
static inline uint8_t *guest_byte(struct guest *guest, uint64_t address)
{
	uint64_t entry;

	entry = get_entry(guest, entry_of(guest, address, guest->mode->levels - 1));
	assert_true(entry & PRESENT);
	return guest->page[entry >> GUEST_PAGE_SHIFT] + (address & (GUEST_PAGE_SIZE - 1));
}

/* Copies to the guest, to new pages where none are mapped. */
static inline void put_bytes(struct guest *guest, uint64_t address, const void *data,
			     size_t size)
{
	const uint8_t *from = data;

	for (size_t i = 0; i < size; i++) {
		uint8_t *entry = entry_of(guest, address + i, guest->mode->levels - 1);

		if (!(get_entry(guest, entry) & PRESENT))
			map_new(guest, address + i);
		*guest_byte(guest, address + i) = from[i];
	}
}

#endif
