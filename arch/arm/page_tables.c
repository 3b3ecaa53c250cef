/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/arm/cpu.h"

/*
 * ARM's page tables. "Arm ARM" is the Arm Architecture Reference Manual for
 * A-profile, DDI 0487, issue J.a: chapters D8 and G5.
 */

/* Modes of CPSR (Arm ARM, section G1.9.1). */
#define CPSR_MODE     0x1full
#define CPSR_MODE_USR 0x10ull

/* TCR_EL1 (Arm ARM, section D17.2.131). The fields for the upper half of addresses are 16
 * bits above those for the lower half, except TG1 and TBI1. */
#define TCR_TNSZ    0x3full
#define TCR_EPD	    (1ull << 7)
#define TCR_TBI	    (1ull << 37)
#define TCR_IPS	    (7ull << 32)
#define TCR_IPS_52  (6ull << 32)
#define TCR_DS	    (1ull << 59)
#define TTBCR_EAE   (1ull << 31)
#define OUTPUT_BITS 52

/* A tree of tables of long descriptors. */
struct tree {
	uint64_t root;	      /* physical address of the first table */
	unsigned int input;   /* number of address bits that are translated */
	unsigned int granule; /* 12, 14 or 16: number of bits within a page */
	bool wide;	      /* LPA2: descriptors with its format of 52-bit addresses */
};

/* Granules in bits, by the value of TG0 and of TG1. */
static const unsigned int lower_granules[4] = {12, 16, 14, 12};
static const unsigned int upper_granules[4] = {12, 14, 12, 16};

/* A 32-bit user program may run on a 64-bit kernel, which then has 64-bit tables. Xen
 * reports a stack pointer of EL1 only for such guests. */
static bool has_aarch32_tables(const struct arm_cpu *cpu)
{
	return arm_is_aarch32(cpu) &&
	       ((cpu->cpsr & CPSR_MODE) != CPSR_MODE_USR || !cpu->sp_el1);
}

enum cpu_kind arm_kind(const struct arm_cpu *cpu)
{
	return has_aarch32_tables(cpu) ? CPU_ARM32 : CPU_ARM64;
}

static unsigned int granule_of(const struct arm_cpu *cpu, bool upper)
{
	return upper ? upper_granules[cpu->tcr >> 30 & 3]
		     : lower_granules[cpu->tcr >> 14 & 3];
}

unsigned int arm64_address_bits(const struct arm_cpu *cpu, bool upper)
{
	unsigned int unused = (unsigned int)(cpu->tcr >> (upper ? 16 : 0) & TCR_TNSZ);
	/* Smaller values count as the least valid one. */
	unsigned int least = cpu->tcr & TCR_DS || granule_of(cpu, upper) == 16 ? 12 : 16;

	return 64 - (unused < least ? least : unused);
}

uint64_t arm64_strip(const struct arm_cpu *cpu, uint64_t address)
{
	bool upper = address >> 55 & 1;
	uint64_t own = ((uint64_t)1 << arm64_address_bits(cpu, upper)) - 1;

	return upper ? address | ~own : address & own;
}

/* The address in a descriptor of a table, block or page. */
static uint64_t output_address(const struct tree *tree, uint64_t entry)
{
	uint64_t address = entry & 0x0000fffffffff000;

	if (tree->wide)
		address = (entry & 0x0003fffffffff000) | (entry >> 8 & 3) << 50;
	else if (tree->granule == 16)
		address |= (entry >> 12 & 0xf) << 48;
	return address & ~(((uint64_t)1 << tree->granule) - 1);
}

/* The number of address bits that index the first table. */
static unsigned int root_bits(const struct tree *tree)
{
	return (tree->input - tree->granule - 1) % (tree->granule - 3) + 1;
}

/* Levels are counted from 1 for pages. */
static bool may_be_block(const struct tree *tree, unsigned int level)
{
	if (level <= 2)
		return true;
	if (tree->granule == 12)
		return level == 3 || (level == 4 && tree->wide);
	return level == 3 && (tree->granule == 16 || tree->wide);
}

static enum translation walk_long(const struct tree *tree,
				  const struct guest_memory *memory, uint64_t address,
				  uint64_t *frame)
{
	unsigned int stride = tree->granule - 3; /* descriptors have 8 bytes */
	unsigned int level = (tree->input - tree->granule + stride - 1) / stride;
	uint64_t table = tree->root;

	for (unsigned int bits = root_bits(tree); level > 0; level--, bits = stride) {
		unsigned int shift = tree->granule + (level - 1) * stride;
		uint64_t inside = ((uint64_t)1 << shift) - 1;
		uint64_t at = table + (address >> shift & ((1u << bits) - 1)) * 8;
		const void *page = memory->page(memory->context, at >> GUEST_PAGE_SHIFT);
		uint64_t entry;

		if (!page)
			return NO_PAGE;
		entry = guest_word(page, at & (GUEST_PAGE_SIZE - 1), 8);
		/* The low two bits: 1 is a block, 3 a table or a page (section D8.3). */
		if (!(entry & 1))
			return NOT_PRESENT;
		if (level > 1 && entry & 2) {
			table = output_address(tree, entry);
			continue;
		}
		if (level == 1 ? !(entry & 2) : !may_be_block(tree, level))
			return NOT_PRESENT;
		*frame = ((output_address(tree, entry) & ~inside) | (address & inside)) >>
			 GUEST_PAGE_SHIFT;
		return TRANSLATED;
	}
	return NOT_PRESENT;
}

/* A first table with few descriptors is aligned to its size, within a page. */
static uint64_t root_of(const struct tree *tree, uint64_t ttbr, bool is_52_bit)
{
	uint64_t size = (uint64_t)8 << root_bits(tree);
	uint64_t root = ttbr & 0x0000fffffffffffe;

	if (is_52_bit) {
		root = (ttbr & 0x0000ffffffffffc0) | (ttbr >> 2 & 0xf) << 48;
		if (size < 64)
			size = 64;
	}
	return root & ~(size - 1);
}

static enum translation translate_64(const struct arm_cpu *cpu,
				     const struct guest_memory *memory, uint64_t address,
				     uint64_t *frame)
{
	bool upper = address >> 55 & 1;
	unsigned int bits = arm64_address_bits(cpu, upper);
	struct tree tree = {.input = bits, .granule = granule_of(cpu, upper)};

	/* If tags are enabled, the top byte is not part of the address (section D8.8). */
	if (cpu->tcr & TCR_TBI << upper)
		address = (uint64_t)((int64_t)(address << 8) >> 8);
	if (!(cpu->sctlr & ARM_SCTLR_M)) {
		if (address >> OUTPUT_BITS)
			return NOT_CANONICAL;
		*frame = address >> GUEST_PAGE_SHIFT;
		return TRANSLATED;
	}
	if (address >> bits != (upper ? UINT64_MAX >> bits : 0))
		return NOT_CANONICAL;
	if (cpu->tcr & TCR_EPD << (upper ? 16 : 0) || bits <= tree.granule)
		return NOT_PRESENT;
	tree.wide = cpu->tcr & TCR_DS && tree.granule != 16;
	tree.root = root_of(&tree, upper ? cpu->ttbr1 : cpu->ttbr0,
			    (cpu->tcr & TCR_IPS) == TCR_IPS_52);
	return walk_long(&tree, memory, address, frame);
}

/* TTBCR's long format (section G5.5); the table is selected as in section G5.5.4. */
static enum translation translate_lpae(const struct arm_cpu *cpu,
				       const struct guest_memory *memory,
				       uint64_t address, uint64_t *frame)
{
	unsigned int t0 = cpu->tcr & 7, t1 = cpu->tcr >> 16 & 7;
	uint64_t lower_end = (uint64_t)1 << (32 - t0);
	uint64_t upper_start = ((uint64_t)1 << 32) - ((uint64_t)1 << (32 - t1));
	struct tree tree = {.granule = 12};
	bool upper;

	if (t1)
		upper = address >= upper_start;
	else
		upper = address >= lower_end;
	if (!upper && address >= lower_end)
		return NOT_PRESENT;
	if (cpu->tcr & TCR_EPD << (upper ? 16 : 0))
		return NOT_PRESENT;
	tree.input = 32 - (upper ? t1 : t0);
	tree.root = root_of(&tree, upper ? cpu->ttbr1 : cpu->ttbr0, false);
	return walk_long(&tree, memory, address, frame);
}

/* Section G5.4: sections of 1 MiB and supersections of 16, large pages of 64 KiB and
 * small ones of 4. */
static enum translation translate_short(const struct arm_cpu *cpu,
					const struct guest_memory *memory,
					uint64_t address, uint64_t *frame)
{
	unsigned int n = cpu->tcr & 7;
	bool upper = n && address >> (32 - n);
	unsigned int bits = upper ? 12 : 12 - n;
	uint64_t table = (upper ? cpu->ttbr1 : cpu->ttbr0) & 0xffffffff &
			 ~(((uint64_t)4 << bits) - 1);
	uint64_t at = table + (address >> 20 & ((1u << bits) - 1)) * 4;
	uint64_t output, inside, entry;
	const void *page;

	if (cpu->tcr & (upper ? 1 << 5 : 1 << 4)) /* PD1, PD0 */
		return NOT_PRESENT;
	page = memory->page(memory->context, at >> GUEST_PAGE_SHIFT);
	if (!page)
		return NO_PAGE;
	entry = guest_word(page, at & (GUEST_PAGE_SIZE - 1), 4);
	switch (entry & 3) {
	case 0:
		return NOT_PRESENT;
	case 1:
		at = (entry & 0xfffffc00) + (address >> 12 & 0xff) * 4;
		page = memory->page(memory->context, at >> GUEST_PAGE_SHIFT);
		if (!page)
			return NO_PAGE;
		entry = guest_word(page, at & (GUEST_PAGE_SIZE - 1), 4);
		if (!(entry & 3))
			return NOT_PRESENT;
		inside = entry & 2 ? 0xfff : 0xffff;
		output = entry & 0xffffffff & ~inside;
		break;
	default:
		inside = 0xfffff;
		output = entry & 0xfff00000;
		if (entry & 1 << 18) {
			inside = 0xffffff;
			output = (entry & 0xff000000) | (entry >> 20 & 0xf) << 32 |
				 (entry >> 5 & 0xf) << 36;
		}
		break;
	}
	*frame = (output | (address & inside)) >> GUEST_PAGE_SHIFT;
	return TRANSLATED;
}

enum translation arm_translate(const struct arm_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame)
{
	if (arm_is_aarch32(cpu) && address >> 32)
		return NOT_CANONICAL;
	if (!has_aarch32_tables(cpu))
		return translate_64(cpu, memory, address, frame);
	if (!(cpu->sctlr & ARM_SCTLR_M)) {
		*frame = address >> GUEST_PAGE_SHIFT;
		return TRANSLATED;
	}
	if (cpu->tcr & TTBCR_EAE)
		return translate_lpae(cpu, memory, address, frame);
	return translate_short(cpu, memory, address, frame);
}

/*
 * What TTBR0 has besides the table: CnP, the ASID, or attributes in the low bits of the
 * short format, whose tables have at least 128 bytes (Arm ARM, sections D17.2.144 and
 * G8.2.167). With 52-bit addresses, the low bits are the highest of the address.
 */
uint64_t arm_space(const struct arm_cpu *cpu)
{
	if (!(cpu->sctlr & ARM_SCTLR_M))
		return 0;
	if (has_aarch32_tables(cpu) && !(cpu->tcr & TTBCR_EAE))
		return cpu->ttbr0 & 0xffffff80;
	return cpu->ttbr0 & 0x0000fffffffffffe;
}
