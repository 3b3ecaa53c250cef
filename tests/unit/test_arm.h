/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_TEST_ARM_H
#define UNIPROF_TESTS_UNIT_TEST_ARM_H

/*
 * What the tests of ARM guests share: a guest's memory, and page tables in it that are
 * written as the Arm ARM (DDI 0487, chapters D8 and G5) says they are read.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arch/arch.h"
#include "tests/unit/random.h"

#define FRAMES		1024 /* of 4 KiB, of the guest's memory */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

#define CPSR_EL1 0x5ull /* EL1h */
#define CPSR_SVC 0x13ull
#define CPSR_USR 0x10ull

/* TCR_EL1 for a lower half, and an upper one, of so many bits. */
#define TCR_SIZES(lower, upper) ((64ull - (lower)) | (64ull - (upper)) << 16)
#define TCR_4K			(0ull << 14 | 2ull << 30)
#define TCR_16K			(2ull << 14 | 1ull << 30)
#define TCR_64K			(1ull << 14 | 3ull << 30)
#define TCR_52_BIT		(6ull << 32) /* IPS */
#define TCR_DS			(1ull << 59)
#define TCR_TBI0		(1ull << 37)
#define TCR_TBI1		(1ull << 38)
#define TTBCR_EAE		(1ull << 31)

/* How descriptors hold the address of what they point at. */
enum descriptors {
	LONG,	  /* in its place */
	LONG_64K, /* bits 51 to 48 in bits 15 to 12 (LPA) */
	LONG_DS,  /* bits 51 and 50 in bits 9 and 8 (LPA2) */
	SHORT,
};

/* A translation: where an address is cut, from the first table on. */
struct mode {
	const char *name;
	uint64_t cpsr, tcr;
	enum descriptors descriptors;
	unsigned int levels;
	unsigned int shift[5];
	unsigned int bits[5];
	uint64_t base; /* the lowest address that these tables are for */
	bool upper;    /* they are TTBR1's */
};

/* Of a table of modes: tables with a lowest address above 0 are TTBR1's. */
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

struct guest {
	const struct mode *mode;
	struct arm_cpu cpu;
	struct guest_memory memory;
	uint64_t root;	    /* physical address of the first table */
	uint64_t next;	    /* the next free frame */
	unsigned int calls; /* of page() */
	bool missing[FRAMES];
	uint8_t page[FRAMES][GUEST_PAGE_SIZE];
	uint64_t view[GUEST_PAGE_SIZE / 8]; /* what page() gives */
	uint8_t beyond[8];		    /* what must not be read behind it */
};

/* Always the same memory, as a page is only promised until the next call: who
 * reads an earlier one after that reads another's bytes, and the test fails. */
static inline const void *guest_page(void *context, uint64_t frame)
{
	struct guest *guest = context;

	guest->calls++;
	memset(guest->view, 0xee, sizeof(guest->view));
	if (frame >= FRAMES || guest->missing[frame])
		return NULL;
	memcpy(guest->view, guest->page[frame], GUEST_PAGE_SIZE);
	return guest->view;
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

/* Whole granules are for tables, even where the first one is small. */
static inline unsigned int granule_of(const struct mode *mode)
{
	return mode->shift[mode->levels - 1];
}

/* An empty guest in this mode; without one, its MMU is off. */
static inline struct guest *guest_new(const struct mode *mode)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	assert_non_null(guest);
	guest->mode = mode;
	guest->memory = (struct guest_memory){.page = guest_page, .context = guest};
	guest->next = 2;
	guest->cpu.cpsr = mode ? mode->cpsr : CPSR_EL1;
	if (!mode)
		return guest;
	guest->cpu.sctlr = ARM_SCTLR_M;
	guest->cpu.tcr = mode->tcr;
	guest->root = new_table(guest, mode->bits[0]);
	*(mode->upper ? &guest->cpu.ttbr1 : &guest->cpu.ttbr0) = guest->root;
	/* The other half's tables are nowhere. */
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

/* The address of what a long descriptor points at, as bits of it, and back. */
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

/* Where the entry for @address is in the table at @level, 0 for the first; the tables
 * above are made where there are none. */
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
		/* The tests' memory is small: these bits are no address. */
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

/* Maps new memory, a granule of it, at @address, and returns where it is. */
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
