/* Short descriptors of 32-bit guests. Arm ARM for v7-A (DDI 0406C), B3.5. */
#include "tables.h"

static bool split __attribute__((section(".bss.boot")));
static uint32_t root[2] __attribute__((section(".bss.boot"))); /* guest-physical */

pte_t *tables_entry(unsigned long address, unsigned int level)
{
	pte_t *top = memory_pointer(root[split && address >> 31]);
	pte_t *entry = &top[address >> 20];

	if (level == 2)
		return entry;
	if (!*entry)
		*entry = memory_address(memory_new_table(1024)) | PTE_TABLE;
	return (pte_t *)memory_pointer(*entry & ~1023u) + (address >> 12 & 255);
}

uint64_t tables_block(void)
{
	return 1u << 20;
}

/* Supersections and large pages take 16 entries each. */
static const struct unit {
	unsigned int shift, level, entries;
	pte_t flags;
} units[] = {
	{24, 2, 16, PTE_SUPERSECTION},
	{20, 2, 1, PTE_SECTION},
	{16, 1, 16, PTE_LARGE_PAGE},
	{12, 1, 1, PTE_PAGE},
};

void tables_fill(unsigned long virt, uint64_t phys, uint64_t size)
{
	while (size) {
		const struct unit *unit = units;
		pte_t *entry;

		while (size >> unit->shift == 0 ||
		       (virt | phys) & ((1ul << unit->shift) - 1))
			unit++;
		entry = tables_entry(virt, unit->level);
		for (unsigned int i = 0; i < unit->entries; i++)
			entry[i] = phys | unit->flags;
		virt += 1ul << unit->shift;
		phys += 1ul << unit->shift;
		size -= 1ul << unit->shift;
	}
	asm volatile("dsb\n\tisb" : : : "memory");
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

void tables_choose(struct paging *choice)
{
	choice->granule = 12;
	choice->bits = choice->split ? 31 : 32;
}

void tables_init(const struct paging *choice, struct boot_registers *registers)
{
	split = choice->split;
	/* Larger than the tables are, as hostile.c requires (RECURSIVE). */
	for (unsigned int i = 0; i < 2; i++)
		root[i] = memory_address(memory_new_table(0x10000));
	/* B4.1.154: walks are cached, write-back, and shared. */
	registers->ttbr0 = root[0] | 0x4a;
	registers->ttbr1 = root[1] | 0x4a;
	registers->tcr = split; /* B3.5.4: N = 1 splits the addresses in halves */
	registers->mair = 0;
}
