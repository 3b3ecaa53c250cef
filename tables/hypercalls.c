/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/hypercalls.h"

#include <string.h>

#include "tables/code/code.h"
#include "tables/program_table.h"

#define STUB_SIZE 32

/* Number of stubs from which on a page counts as filled in. Xen fills in all 128, or as
 * many as it has hypercalls. */
#define STUBS_MIN 24

/*
 * Finds the mov of the hypercall's number. In guests without their own page tables, it
 * follows push rcx and push r11. The stub of iret is not a function: it pushes another
 * register.
 */
static const uint8_t *find_mov(const uint8_t *stub)
{
	static const uint8_t pushes[] = {0x51, 0x41, 0x53};
	size_t at = memcmp(stub, pushes, sizeof(pushes)) == 0 ? sizeof(pushes) : 0;

	return stub[at] == 0xb8 ? stub + at : NULL;
}

bool hypercall_page_is_filled(const uint8_t *page)
{
	unsigned int stubs = 0;

	for (unsigned int i = 0; i < GUEST_PAGE_SIZE / STUB_SIZE; i++) {
		const uint8_t number[] = {0xb8, (uint8_t)i, 0, 0, 0};
		const uint8_t *mov = find_mov(page + (size_t)i * STUB_SIZE);

		stubs += mov && memcmp(mov, number, sizeof(number)) == 0;
	}
	return stubs >= STUBS_MIN;
}

int unwind_table_add_hypercalls(struct unwind_builder *builder, const uint8_t *page,
				uint64_t address, struct error *err)
{
	struct code_function stubs[GUEST_PAGE_SIZE / STUB_SIZE];
	struct machine_code code = {
		.bytes = page,
		.size = GUEST_PAGE_SIZE,
		.address = address,
		.functions = stubs,
	};

	for (size_t at = 0; at < GUEST_PAGE_SIZE; at += STUB_SIZE)
		if (find_mov(page + at))
			stubs[code.count++] = (struct code_function){
				address + at, STUB_SIZE, CODE_PART_FUNCTION};
	return unwind_table_add_code(builder, &code, err);
}

/* Copies the page at @address; true if it is a page of hypercalls. The guest may write to
 * it meanwhile. */
static bool hypercall_page_read(const struct cpu *cpu, const struct guest_memory *memory,
				uint64_t address, uint8_t *to)
{
	return cpu_read(cpu, memory, address, to, GUEST_PAGE_SIZE) &&
	       hypercall_page_is_filled(to);
}

/* Makes and locks the table of a page. NULL if out of memory, or of memory that may be
 * locked. */
static struct unwind_table *hypercall_table_make(const uint8_t *page, uint64_t address)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table = NULL;
	struct error ignored;

	if (builder && unwind_table_add_hypercalls(builder, page, address, &ignored) == 0)
		table = unwind_builder_finish(builder);
	unwind_builder_free(builder);
	if (table && unwind_table_lock(table) == 0)
		return table;
	unwind_table_free(table);
	return NULL;
}

struct unwind_table *placed_table_hypercalls(const struct placed_table *placed,
					     const struct cpu *cpu,
					     const struct guest_memory *memory)
{
	const struct program_table *table = placed->table;
	uint8_t page[GUEST_PAGE_SIZE];
	uint64_t executed;

	if (cpu_kind(cpu) != CPU_X86_64)
		return NULL;
	for (size_t i = 0; i < table->origins; i++) {
		uint64_t address = placed->is_found[i] ? table->origin[i].hypercall_page
						       : 0;

		address += address ? placed->shift[i] : 0;
		if (address && address % GUEST_PAGE_SIZE == 0 &&
		    hypercall_page_read(cpu, memory, address, page))
			return hypercall_table_make(page, address);
	}
	executed = cpu->x86.rip & ~(uint64_t)(GUEST_PAGE_SIZE - 1);
	return hypercall_page_read(cpu, memory, executed, page)
		       ? hypercall_table_make(page, executed)
		       : NULL;
}
