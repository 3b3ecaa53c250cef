/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/program_table.h"

#include "tables/code/code.h"

/* Copies the page at @address, if it is one of hypercalls. The guest may be writing to
 * it. */
static bool read_page(const struct cpu *cpu, const struct guest_memory *memory,
		      uint64_t address, uint8_t *to)
{
	return cpu_read(cpu, memory, address, to, GUEST_PAGE_SIZE) &&
	       unwind_is_hypercall_page(to);
}

/* NULL if out of memory, or of memory that may be locked. */
static struct unwind_table *make(const uint8_t *page, uint64_t address)
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

struct unwind_table *program_table_hypercalls(const struct program_table *table,
					      const struct cpu *cpu,
					      const struct guest_memory *memory)
{
	uint8_t page[GUEST_PAGE_SIZE];
	uint64_t executed;

	if (cpu_kind(cpu) != CPU_X86_64)
		return NULL;
	for (size_t i = 0; i < table->origins; i++) {
		uint64_t address = table->origin[i].hypercall_page;

		if (address && address % GUEST_PAGE_SIZE == 0 &&
		    read_page(cpu, memory, address, page))
			return make(page, address);
	}
	executed = cpu->x86.rip & ~(uint64_t)(GUEST_PAGE_SIZE - 1);
	return read_page(cpu, memory, executed, page) ? make(page, executed) : NULL;
}
