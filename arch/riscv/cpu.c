/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/riscv/cpu.h"

#include <string.h>

/* satp (Privileged Architecture, section 4.1.11). */
#define SATP_MODE   60
#define SATP_PPN    0xfffffffffffull
#define MODE_BARE   0
#define MODE_SV39   8
#define MODE_SV57   10
#define OUTPUT_BITS 56

/* Entries of tables (section 4.4, and chapter 5 for PTE_NAPOT). */
#define PTE_VALID   (1ull << 0)
#define PTE_READ    (1ull << 1)
#define PTE_WRITE   (1ull << 2)
#define PTE_EXECUTE (1ull << 3)
#define PTE_NAPOT   (1ull << 63)
#define INDEX_BITS  9

static unsigned int mode_of(const struct riscv_cpu *cpu)
{
	return cpu->priv == RISCV_MACHINE_MODE ? MODE_BARE
					       : (unsigned int)(cpu->satp >> SATP_MODE);
}

/* Finds the page that an entry of the last table maps. @inside: the bits of the frame
 * number that come from the address. */
static enum translation map_entry(uint64_t entry, uint64_t inside, uint64_t address,
				  uint64_t *frame)
{
	uint64_t number = entry >> 10 & SATP_PPN;

	if (entry & PTE_NAPOT) {
		/* 64 KiB, and no other size. */
		if (inside || (number & 0xf) != 8)
			return NOT_PRESENT;
		inside = 0xf;
		number &= ~inside;
	}
	if (number & inside)
		return NOT_PRESENT;
	*frame = number | (address >> GUEST_PAGE_SHIFT & inside);
	return TRANSLATED;
}

enum translation riscv_translate(const struct riscv_cpu *cpu,
				 const struct guest_memory *memory, uint64_t address,
				 uint64_t *frame)
{
	unsigned int mode = mode_of(cpu), levels = mode - MODE_SV39 + 3, bits;
	uint64_t table = cpu->satp & SATP_PPN;

	if (mode == MODE_BARE) {
		*frame = address >> GUEST_PAGE_SHIFT;
		return address >> OUTPUT_BITS ? NOT_CANONICAL : TRANSLATED;
	}
	if (mode < MODE_SV39 || mode > MODE_SV57)
		return NOT_PRESENT;
	bits = GUEST_PAGE_SHIFT + levels * INDEX_BITS;
	if ((uint64_t)((int64_t)(address << (64 - bits)) >> (64 - bits)) != address)
		return NOT_CANONICAL;
	while (levels-- > 0) {
		unsigned int shift = levels * INDEX_BITS;
		uint64_t index = address >> GUEST_PAGE_SHIFT >> shift & 0x1ff, entry;
		const void *page = memory->page(memory->context, table);

		if (!page)
			return NO_PAGE;
		entry = guest_word(page, (unsigned int)index * 8, 8);
		if (!(entry & PTE_VALID) || (entry & PTE_WRITE && !(entry & PTE_READ)))
			return NOT_PRESENT;
		if (entry & (PTE_READ | PTE_EXECUTE))
			return map_entry(entry, ((uint64_t)1 << shift) - 1, address,
					 frame);
		table = entry >> 10 & SATP_PPN;
	}
	return NOT_PRESENT;
}

uint64_t riscv_space(const struct riscv_cpu *cpu)
{
	return mode_of(cpu) == MODE_BARE ? 0 : (cpu->satp & SATP_PPN) << GUEST_PAGE_SHIFT;
}

size_t riscv_registers(const struct riscv_cpu *cpu, struct register_value *values)
{
	static const char *const names[RISCV_REGISTERS] = {
		"zero", "ra", "sp", "gp", "tp",	 "t0",	"t1", "t2", "s0", "s1", "a0",
		"a1",	"a2", "a3", "a4", "a5",	 "a6",	"a7", "s2", "s3", "s4", "s5",
		"s6",	"s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6",
	};
	const struct register_value others[] = {
		{"pc", cpu->pc}, {"satp", cpu->satp}, {"priv", cpu->priv}};

	for (size_t i = 0; i < RISCV_REGISTERS; i++)
		values[i] = (struct register_value){names[i], cpu->x[i]};
	memcpy(values + RISCV_REGISTERS, others, sizeof(others));
	return RISCV_REGISTERS + sizeof(others) / sizeof(others[0]);
}
