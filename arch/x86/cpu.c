/* SPDX-License-Identifier: BSD-3-Clause */
#include "arch/x86/cpu.h"

#include <stdbool.h>
#include <string.h>

/* Intel SDM, volume 3, section 4.5: bits of paging-structure entries. */
#define ENTRY_NO_EXECUTE (1ull << 63)
#define ENTRY_PRESENT	 (1ull << 0)
#define ENTRY_LARGE	 (1ull << 7)
#define ENTRY_FRAME	 0x000ffffffffff000ull /* bits 51 to 12 */

/* How a paging mode splits an address into indexes. */
struct paging {
	unsigned int levels;
	unsigned int index_bits; /* of an address, for each level */
	unsigned int top_bits;	 /* of an address, for the top level */
	unsigned int entry_size; /* bytes */
	unsigned int large;	 /* bit n: an entry at level n may be a page */
	unsigned int width;	 /* address bits: 32, or sign-extended above */
};

static const struct paging paging_32 = {2, 10, 10, 4, 0, 32};
static const struct paging paging_32_pse = {2, 10, 10, 4, 1 << 2, 32};
static const struct paging paging_pae = {3, 9, 2, 8, 1 << 2, 32};
static const struct paging paging_4_level = {4, 9, 9, 8, 1 << 2 | 1 << 3, 48};
static const struct paging paging_5_level = {5, 9, 9, 8, 1 << 2 | 1 << 3, 57};

enum cpu_kind x86_kind(const struct x86_cpu *cpu)
{
	return cpu->efer & X86_EFER_LMA ? CPU_X86_64 : CPU_X86_32;
}

/* NULL if paging is off. */
static const struct paging *paging_of(const struct x86_cpu *cpu)
{
	if (!(cpu->cr0 & X86_CR0_PG))
		return NULL;
	if (cpu->efer & X86_EFER_LMA)
		return cpu->cr4 & X86_CR4_LA57 ? &paging_5_level : &paging_4_level;
	if (cpu->cr4 & X86_CR4_PAE)
		return &paging_pae;
	return cpu->cr4 & X86_CR4_PSE ? &paging_32_pse : &paging_32;
}

static bool is_canonical(const struct paging *paging, uint64_t address)
{
	unsigned int above = 64 - paging->width;

	if (paging->width == 32)
		return address >> 32 == 0;
	return (uint64_t)((int64_t)(address << above) >> above) == address;
}

/* The frame within the page that @entry maps, 1 << @page_bits bytes long. */
static uint64_t frame_in_page(uint64_t entry, uint64_t address, unsigned int page_bits,
			      unsigned int entry_size)
{
	uint64_t inside = (1ull << page_bits) - 1;
	uint64_t base = entry & ENTRY_FRAME & ~inside;

	/* 4 MiB pages: bits 20 to 13 are bits 39 to 32 of the address
	 * (Intel SDM, volume 3, table 4-4, PSE-36). */
	if (entry_size == 4 && page_bits == 22)
		base = (entry & 0xffc00000) | (entry >> 13 & 0xff) << 32;
	return (base | (address & inside)) >> GUEST_PAGE_SHIFT;
}

/* Notes that the translation of @address ends in a table, at this level. */
static inline void note_table(struct last_table *last, const struct paging *paging,
			      uint64_t address, uint64_t table, unsigned int level)
{
	uint64_t size = 1ull << (GUEST_PAGE_SHIFT + level * paging->index_bits);

	*last = (struct last_table){address & ~(size - 1), size, table, level};
}

/*
 * x86_translate(). *@bits_set gets the bits of all entries on the way, but for the
 * uppermost one: Linux forbids itself to execute programs there (pti_set_user_pgtbl()).
 * @last: NULL, or where the last translation has ended, in which case not all entries are
 * on the way. Inlined for the usual mode, whose loop has no variables but the level then.
 */
static inline __attribute__((always_inline)) enum translation
walk_levels(const struct x86_cpu *cpu, const struct guest_memory *memory,
	    const struct paging *paging, struct last_table *last, uint64_t address,
	    uint64_t *frame, uint64_t *bits_set)
{
	uint64_t table = cpu->cr3 & ENTRY_FRAME;
	unsigned int offset = 0, level = paging->levels;

	if (!is_canonical(paging, address))
		return NOT_CANONICAL;
	/* A PAE root has 32 bytes and can be anywhere in a page below 4 GiB (SDM, section
	 * 4.4.1); a PV guest's is anywhere. */
	if (paging == &paging_pae) {
		if (!cpu->kernel_cr3)
			table &= 0xfffff000;
		offset = cpu->cr3 & 0xfe0;
	}
	if (last && address - last->start < last->size) {
		table = last->address;
		level = last->level;
		offset = 0;
	}
	for (; level > 0; level--) {
		unsigned int shift = GUEST_PAGE_SHIFT + (level - 1) * paging->index_bits;
		unsigned int bits = level == paging->levels ? paging->top_bits
							    : paging->index_bits;
		unsigned int index = address >> shift & ((1u << bits) - 1);
		const void *page = memory->page(memory->context,
						table >> GUEST_PAGE_SHIFT);
		uint64_t entry;

		if (!page)
			return NO_PAGE;
		entry = guest_word(page, offset + index * paging->entry_size,
				   paging->entry_size);
		if (!(entry & ENTRY_PRESENT))
			return NOT_PRESENT;
		if (level < paging->levels)
			*bits_set |= entry;
		if (level == 1 || (paging->large >> level & 1 && entry & ENTRY_LARGE)) {
			if (last && level < paging->levels)
				note_table(last, paging, address, table, level);
			*frame = frame_in_page(entry, address, shift, paging->entry_size);
			return TRANSLATED;
		}
		table = entry & ENTRY_FRAME;
		offset = 0;
	}
	return NOT_PRESENT;
}

static inline enum translation walk_tables(const struct x86_cpu *cpu,
					   const struct guest_memory *memory,
					   struct last_table *last, uint64_t address,
					   uint64_t *frame, uint64_t *bits_set)
{
	const struct paging *paging = paging_of(cpu);

	if (!paging) {
		*frame = (uint32_t)address >> GUEST_PAGE_SHIFT;
		return TRANSLATED;
	}
	if (paging == &paging_4_level)
		return walk_levels(cpu, memory, &paging_4_level, last, address, frame,
				   bits_set);
	return walk_levels(cpu, memory, paging, last, address, frame, bits_set);
}

enum translation x86_translate(const struct x86_cpu *cpu,
			       const struct guest_memory *memory, uint64_t address,
			       uint64_t *frame)
{
	uint64_t ignored = 0;

	return walk_tables(cpu, memory, NULL, address, frame, &ignored);
}

enum translation x86_translate_near(const struct x86_cpu *cpu,
				    const struct guest_memory *memory,
				    struct last_table *last, uint64_t address,
				    uint64_t *frame)
{
	uint64_t ignored = 0;

	return walk_tables(cpu, memory, last, address, frame, &ignored);
}

bool x86_is_executable(const struct x86_cpu *cpu, const struct guest_memory *memory,
		       uint64_t address)
{
	uint64_t frame, bits = 0;

	return walk_tables(cpu, memory, NULL, address, &frame, &bits) == TRANSLATED &&
	       !(bits & ENTRY_NO_EXECUTE && cpu->efer & X86_EFER_NXE);
}

/*
 * The low bits of CR3 are flags or the PCID (Intel SDM, volume 3, section 2.5).
 *
 * A Linux kernel that is hidden from user mode (PTI) has two tables for each process, in
 * neighbouring pages; user mode has the second one, and bit 11 in its PCID (Linux,
 * arch/x86/entry/calling.h, PTI_USER_PGTABLE_AND_PCID_MASK). Without PCIDs, its use can't
 * be told from that of another process.
 */
#define PTI_USER_PCID  (1ull << 11)
#define PTI_USER_TABLE (1ull << 12)

uint64_t x86_space(const struct x86_cpu *cpu)
{
	const struct paging *paging = paging_of(cpu);
	const uint64_t user = PTI_USER_PCID | PTI_USER_TABLE;
	uint64_t table = cpu->cr3 & ENTRY_FRAME;

	if (!paging)
		return 0;
	if (cpu->kernel_cr3)
		return cpu->kernel_cr3 & ENTRY_FRAME;
	if (paging == &paging_pae)
		return cpu->cr3 & 0xffffffe0;
	if (paging->levels < 4)
		return table & 0xffffffff;
	if (cpu->cr4 & X86_CR4_PCIDE && (cpu->cr3 & user) == user)
		table &= ~PTI_USER_TABLE;
	return table;
}

size_t x86_registers(const struct x86_cpu *cpu, struct register_value *values)
{
	static const char *const names[X86_REGISTERS] = {
		"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
		"r8",  "r9",  "r10", "r11", "r12", "r13", "r14", "r15",
	};
	const struct register_value others[] = {
		{"rip", cpu->rip}, {"rflags", cpu->rflags}, {"cs", cpu->cs},
		{"ss", cpu->ss},   {"cr0", cpu->cr0},	    {"cr3", cpu->cr3},
		{"cr4", cpu->cr4}, {"efer", cpu->efer},
	};

	for (size_t i = 0; i < X86_REGISTERS; i++)
		values[i] = (struct register_value){names[i], cpu->reg[i]};
	memcpy(values + X86_REGISTERS, others, sizeof(others));
	return X86_REGISTERS + sizeof(others) / sizeof(others[0]);
}
