/* Long descriptors: 64-bit guests, and 32-bit ones with LPAE. Arm ARM (DDI 0487), D8. */
#include "tables.h"

/* The target of a table's entry. */
#define ADDRESS 0x0000fffffffff000

static struct paging paging __attribute__((section(".bss.boot")));
static uint64_t root[2] __attribute__((section(".bss.boot"))); /* guest-physical */

/* Returns how many bits of an address are below the bits that choose an entry. Entries of
 * level 1 map pages. */
static unsigned int level_shift(unsigned int level)
{
	return paging.granule + (level - 1) * (paging.granule - 3);
}

static unsigned int top_level(void)
{
	unsigned int level = 1;

	while (level_shift(level + 1) < paging.bits)
		level++;
	return level;
}

static bool is_high(unsigned long address)
{
	return paging.split && address >> (8 * sizeof(address) - 1);
}

pte_t *tables_entry(unsigned long address, unsigned int level)
{
	unsigned int i = top_level();
	uint64_t within = address & ((2ull << (paging.bits - 1)) - 1);
	pte_t *at = memory_pointer(root[is_high(address)]);

	for (;; i--) {
		pte_t *entry = &at[within >> level_shift(i)];

		within &= (1ull << level_shift(i)) - 1;
		if (i == level)
			return entry;
		if (!*entry)
			*entry = memory_address(memory_new_table(1ul << paging.granule)) |
				 PTE_TABLE;
		at = memory_pointer(*entry & ADDRESS);
	}
}

uint64_t tables_block(void)
{
	return 1ull << level_shift(2);
}

/* Level 3 has blocks with the granule of 4K only. */
static unsigned int largest_level(uint64_t virt, uint64_t phys, uint64_t size)
{
	unsigned int level = paging.granule == 12 ? 3 : 2;

	while (level > 1 && (size >> level_shift(level) == 0 ||
			     (virt | phys) & ((1ull << level_shift(level)) - 1)))
		level--;
	return level;
}

void tables_fill(unsigned long virt, uint64_t phys, uint64_t size)
{
	while (size) {
		unsigned int level = largest_level(virt, phys, size);
		uint64_t unit = 1ull << level_shift(level);

		*tables_entry(virt, level) = phys | ((level > 1 ? PTE_BLOCK : PTE_PAGE) &
						     ~(paging.wide ? PTE_SHARED : 0));
		virt += unit;
		phys += unit;
		size -= unit;
	}
	asm volatile("dsb ish\n\tisb" : : : "memory");
}

bool tables_set(pte_t *entry, pte_t value)
{
	*(volatile pte_t *)entry = value;
	return true;
}

bool tables_map(unsigned long address, const void *page)
{
	return tables_set(tables_entry(address, 1), memory_address(page) | PTE_PAGE);
}

#ifdef __aarch64__
/* Arm ARM, D17.2.64: ID_AA64MMFR0_EL1, and D17.2.66: VARange of ID_AA64MMFR2_EL1. */
static unsigned int feature(unsigned int shift)
{
	uint64_t features;

	asm("mrs %0, id_aa64mmfr0_el1" : "=r"(features));
	return features >> shift & 15;
}

static bool have_long_addresses(void)
{
	uint64_t features;

	asm("mrs %0, id_aa64mmfr2_el1" : "=r"(features));
	return features >> 16 & 15;
}

void tables_choose(struct paging *choice)
{
	bool have_52_bits;

	if (choice->granule == 16 && feature(24) == 0)
		have_52_bits = have_long_addresses();
	else if (choice->granule == 14 && feature(20) != 0)
		have_52_bits = feature(20) == 2;
	else {
		choice->granule = 12;
		have_52_bits = feature(28) == 1;
	}
	if (choice->bits < 39)
		choice->bits = 39; /* memory.c's addresses need 39 bits */
	if (choice->bits > 48)
		choice->bits = have_52_bits ? 52 : 48;
	choice->wide = choice->bits > 48 && choice->granule < 16;
}

static unsigned long control_register(void)
{
	static const unsigned char low[] = {[12] = 0, [14] = 2, [16] = 1};
	static const unsigned char high[] = {[12] = 2, [14] = 1, [16] = 3};
	unsigned long size = feature(0);

	/* TG0, TG1, DS; IPS as large as the CPU has it, but below 52 bits, for which
	 * entries are not written here. */
	return (unsigned long)low[paging.granule] << 14 |
	       (unsigned long)high[paging.granule] << 30 |
	       (unsigned long)paging.wide << 59 | (size > 5 ? 5 : size) << 32;
}
#else
void tables_choose(struct paging *choice)
{
	choice->granule = 12;
	choice->bits = choice->split ? 31 : 32;
}

static unsigned long control_register(void)
{
	return 1ul << 31; /* EAE */
}
#endif

void tables_init(const struct paging *choice, struct boot_registers *registers)
{
	unsigned long size = 8 * sizeof(long) - choice->bits;

	paging = *choice;
	for (unsigned int i = 0; i < 2; i++)
		root[i] = memory_address(memory_new_table(1ul << paging.granule));
	registers->ttbr0 = root[0];
	registers->ttbr1 = root[1];
	registers->mair = 0xff; /* attributes 0: normal memory, write-back */
	/*
	 * TCR_EL1 (D17.2.139), TTBCR: T0SZ and T1SZ; walks are cached, write-back, inner
	 * shareable; EPD1 forbids the high half.
	 */
	registers->tcr = control_register() | size | size << 16 | 0x35003500 |
			 (paging.split ? 0 : 1ul << 23);
}
