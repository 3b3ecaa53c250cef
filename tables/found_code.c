/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/found_code.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/x86_code.h"
#include "unwind/table/code.h"

/* Contiguous code, as it was when it was read. */
struct part {
	uint64_t address;
	size_t size;
	uint8_t *bytes;
};

struct found_code {
	struct part part[FOUND_CODE_PARTS];
	size_t parts;
	struct unwind_builder *builder;
	struct unwind_table *table;
};

struct found_code *found_code_new(void)
{
	struct found_code *found = calloc(1, sizeof(*found));

	if (!found)
		return NULL;
	found->builder = unwind_builder_new();
	if (found->builder)
		return found;
	free(found);
	return NULL;
}

void found_code_free(struct found_code *found)
{
	if (!found)
		return;
	for (size_t i = 0; i < found->parts; i++)
		free(found->part[i].bytes);
	unwind_builder_free(found->builder);
	unwind_table_free(found->table);
	free(found);
}

const struct unwind_table *found_code_table(const struct found_code *found)
{
	return found->table;
}

static const struct part *find_part(const struct found_code *found, uint64_t address)
{
	for (size_t i = 0; i < found->parts; i++)
		if (address - found->part[i].address < found->part[i].size)
			return &found->part[i];
	return NULL;
}

/* Reads the pages around @place, up to those that are missing or known. */
static bool read_part(const struct found_code *found, const struct cpu *cpu,
		      const struct guest_memory *memory, uint64_t place,
		      struct part *part)
{
	uint8_t *bytes = malloc(FOUND_CODE_SIZE), *kept;
	size_t start = FOUND_CODE_SIZE / 2, end = start;
	uint64_t base = (place & -(uint64_t)GUEST_PAGE_SIZE) - start;

	if (!bytes)
		return false;
	while (end < FOUND_CODE_SIZE && !find_part(found, base + end) &&
	       cpu_read(cpu, memory, base + end, bytes + end, GUEST_PAGE_SIZE))
		end += GUEST_PAGE_SIZE;
	while (end > FOUND_CODE_SIZE / 2 && start &&
	       !find_part(found, base + start - GUEST_PAGE_SIZE) &&
	       cpu_read(cpu, memory, base + start - GUEST_PAGE_SIZE,
			bytes + start - GUEST_PAGE_SIZE, GUEST_PAGE_SIZE))
		start -= GUEST_PAGE_SIZE;
	memmove(bytes, bytes + start, end - start);
	if (start == end) {
		free(bytes);
		return false;
	}
	kept = realloc(bytes, end - start);
	*part = (struct part){base + start, end - start, kept ?: bytes};
	return true;
}

/* Adds the rules of the part, in which there is an instruction at @place. */
static int add_rules(struct found_code *found, const struct part *part, uint64_t place)
{
	struct unwind_code code = {
		.bytes = part->bytes, .size = part->size, .address = part->address};
	struct error ignored;
	int status;

	if (unwind_find_functions(&code, &place, 1) < 0)
		return -1;
	status = unwind_table_add_code(found->builder, &code, &ignored);
	free((void *)(uintptr_t)code.functions);
	return status;
}

/* Makes a table of all rules. */
static bool renew(struct found_code *found)
{
	struct unwind_table *table = unwind_builder_finish(found->builder);
	const void *memory;
	size_t size;

	if (!table)
		return false;
	memory = unwind_table_memory(table, &size);
	if (mlock(memory, size) < 0) {
		unwind_table_free(table);
		return false;
	}
	unwind_table_free(found->table);
	found->table = table;
	return true;
}

bool found_code_look(struct found_code *found, const struct cpu *cpu,
		     const struct guest_memory *memory)
{
	struct part *part = &found->part[found->parts];
	uint64_t place;

	if (cpu_kind(cpu) != CPU_X86_64 || found->parts == FOUND_CODE_PARTS)
		return false;
	place = cpu->x86.rip;
	if (find_part(found, place) || !read_part(found, cpu, memory, place, part))
		return false;
	found->parts++;
	return add_rules(found, part, place) == 0 && renew(found);
}

void found_code_check(const struct found_code *found, struct chain *chain)
{
	for (uint32_t i = 1; i < chain->count; i++) {
		uint64_t address = chain->address[i], target;
		const struct part *part = find_part(found, address - 1);
		size_t before = part ? address - part->address : 0;

		if (!part ||
		    x86_call_before(part->bytes + before, before, address, true, &target))
			continue;
		chain->count = i;
		chain->end = CHAIN_NOT_CALLED;
	}
}
