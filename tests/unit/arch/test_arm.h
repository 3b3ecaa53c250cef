/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_ARCH_TEST_ARM_H
#define UNIPROF_TESTS_UNIT_ARCH_TEST_ARM_H

/*
 * Shared by the tests of ARM guests: a guest's memory, and page tables in it, written by
 * the rules of the Arm ARM (DDI 0487, chapters D8 and G5) for reading them.
 */

#define GUEST_CPU struct arm_cpu
#include "tests/unit/arch/test_guest.h"

#define CPSR_EL1 0x5ull /* EL1h */
#define CPSR_SVC 0x13ull
#define CPSR_USR 0x10ull

/* TCR_EL1 for a lower half and an upper half with these numbers of address bits. */
#define TCR_SIZES(lower, upper) ((64ull - (lower)) | (64ull - (upper)) << 16)
#define TCR_4K			(0ull << 14 | 2ull << 30)
#define TCR_16K			(2ull << 14 | 1ull << 30)
#define TCR_64K			(1ull << 14 | 3ull << 30)
#define TCR_52_BIT		(6ull << 32) /* IPS */
#define TCR_DS			(1ull << 59)
#define TCR_TBI0		(1ull << 37)
#define TCR_TBI1		(1ull << 38)
#define TTBCR_EAE		(1ull << 31)

/* How descriptors encode the address that they point at. */
enum descriptors {
	LONG,	  /* in its place */
	LONG_64K, /* bits 51 to 48 in bits 15 to 12 (LPA) */
	LONG_DS,  /* bits 51 and 50 in bits 9 and 8 (LPA2) */
	SHORT,
};

/* A translation: how an address is split, from the first table on. */
struct mode {
	const char *name;
	uint64_t cpsr, tcr;
	enum descriptors descriptors;
	unsigned int levels;
	unsigned int shift[5];
	unsigned int bits[5];
	uint64_t base; /* the lowest address that these tables are for */
	bool upper;    /* they belong to TTBR1 */
};

/* In a table of modes: tables with a lowest address above 0 belong to TTBR1. */
#define CUT(...)            \
	{                   \
		__VA_ARGS__ \
	}
#define MODE(name, level, tcr, descriptors, base, shift, bits)                       \
	{                                                                            \
		name, CPSR_##level, tcr, descriptors,                                \
			sizeof((unsigned int[])shift) / sizeof(unsigned int), shift, \
			bits, base, (base) != 0                                      \
	}

/* Frames for a table of @bits entries; aligned to its size. */
static inline uint64_t new_table(struct guest *guest, unsigned int bits)
{
	unsigned int entry = guest->mode->descriptors == SHORT ? 4 : 8;
	uint64_t frames = ((uint64_t)entry << bits) / GUEST_PAGE_SIZE;
	uint64_t at;

	if (!frames)
		frames = 1;
	guest->next = (guest->next + frames - 1) & ~(frames - 1);
	at = guest->next << GUEST_PAGE_SHIFT;
	guest->next += frames;
	assert_true(guest->next < FRAMES);
	return at;
}

/* Tables get whole granules, even if the first one is small. */
static inline unsigned int granule_of(const struct mode *mode)
{
	return mode->shift[mode->levels - 1];
}

/* An empty guest in this mode; without one, its MMU is off. */
static inline struct guest *guest_new(const struct mode *mode)
{
	struct guest *guest = guest_empty(mode);

	guest->cpu.cpsr = mode ? mode->cpsr : CPSR_EL1;
	if (!mode)
		return guest;
	guest->cpu.sctlr = ARM_SCTLR_M;
	guest->cpu.tcr = mode->tcr;
	guest->root = new_table(guest, mode->bits[0]);
	*(mode->upper ? &guest->cpu.ttbr1 : &guest->cpu.ttbr0) = guest->root;
	/* The other half has no tables. */
	*(mode->upper ? &guest->cpu.ttbr0 : &guest->cpu.ttbr1) = 0xfffffff00000;
	return guest;
}

static inline uint64_t get_entry(const struct guest *guest, uint64_t at)
{
	uint64_t entry = 0;

	assert_true(at >> GUEST_PAGE_SHIFT < FRAMES);
	memcpy(&entry, (const uint8_t *)guest->page + at,
	       guest->mode->descriptors == SHORT ? 4 : 8);
	return entry;
}

static inline void set_entry(struct guest *guest, uint64_t at, uint64_t entry)
{
	assert_true(at >> GUEST_PAGE_SHIFT < FRAMES);
	memcpy((uint8_t *)guest->page + at, &entry,
	       guest->mode->descriptors == SHORT ? 4 : 8);
}

/* Encode and decode the address that a long descriptor points at. */
static inline uint64_t pack_address(const struct mode *mode, uint64_t address)
{
	switch (mode->descriptors) {
	case LONG_64K:
		return (address & 0xffffffff0000) | (address >> 48 & 0xf) << 12;
	case LONG_DS:
		return (address & 0x3fffffffff000) | (address >> 50 & 3) << 8;
	default:
		return address;
	}
}

/* The place of the entry for @address in the table at @level, 0 for the first; missing
 * tables above it are created. */
static inline uint64_t entry_of(struct guest *guest, uint64_t address, unsigned int level)
{
	const struct mode *mode = guest->mode;
	unsigned int size = mode->descriptors == SHORT ? 4 : 8;
	uint64_t table = guest->root;

	for (unsigned int i = 0;; i++) {
		uint64_t index = address >> mode->shift[i] & ((1u << mode->bits[i]) - 1);
		uint64_t at = table + index * size;

		if (i == level)
			return at;
		if (!(get_entry(guest, at) & 3))
			set_entry(guest, at,
				  new_table(guest, mode->bits[i + 1]) |
					  (mode->descriptors == SHORT ? 1 : 3));
		/* The memory of the tests is small: these bits are not part of an
		 * address. */
		table = get_entry(guest, at) & 0xfffffc00 &
			~((uint64_t)size * (1ull << mode->bits[i + 1]) - 1);
	}
}

/* Maps the page, block or section of 1 << @shift bytes around @address. */
static inline void map(struct guest *guest, uint64_t address, uint64_t physical,
		       unsigned int shift)
{
	const struct mode *mode = guest->mode;
	unsigned int level = 0;

	while (mode->shift[level] != shift)
		level++;
	if (mode->descriptors == SHORT)
		set_entry(guest, entry_of(guest, address, level), physical | 2);
	else
		set_entry(guest, entry_of(guest, address, level),
			  pack_address(mode, physical) |
				  (level + 1 == mode->levels ? 3 : 1));
}

/* Maps a granule of new memory at @address, and returns its physical address. */
static inline uint64_t map_new(struct guest *guest, uint64_t address)
{
	unsigned int granule = granule_of(guest->mode);
	uint64_t frames = 1ull << (granule - GUEST_PAGE_SHIFT);
	uint64_t physical;

	guest->next = (guest->next + frames - 1) & ~(frames - 1);
	physical = guest->next << GUEST_PAGE_SHIFT;
	guest->next += frames;
	assert_true(guest->next < FRAMES);
	map(guest, address, physical, granule);
	return physical;
}

/* Where the byte at @address is in the test's memory. It is mapped by a page. */
static inline uint8_t *guest_byte(struct guest *guest, uint64_t address)
{
	const struct mode *mode = guest->mode;
	uint64_t inside = (1ull << granule_of(mode)) - 1;
	uint64_t entry = get_entry(guest, entry_of(guest, address, mode->levels - 1));

	assert_true(entry & 3);
	return (uint8_t *)guest->page + (entry & 0xfffff000 & ~inside) +
	       (address & inside);
}

#endif
