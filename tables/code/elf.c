/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/code/code.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/code.h"
#include "symbols/elf/elf.h"
#include "symbols/program.h"

/* System V ABI for AMD64, section 5.2 */
#define PLT_ENTRY 16

struct functions {
	struct code_function *list;
	size_t count;
};

/* By address; of several at one address, the longest first. */
static int compare_entries(const void *left, const void *right)
{
	const struct symbols_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->extent != b->extent)
		return a->extent == EXTENT_SIZED ? -1 : b->extent == EXTENT_SIZED;
	return (a->last < b->last) - (a->last > b->last);
}

static bool hypercall_page_is_filled(const struct symbols_entry *entry)
{
	static const char name[] = HYPERCALL_PAGE;

	return entry->length == sizeof(name) - 1 &&
	       memcmp(entry->name, name, sizeof(name) - 1) == 0;
}

/* Compilers move unlikely code away, to a symbol NAME.cold or NAME.cold.N. */
static uint8_t part_of(const struct symbols_entry *entry)
{
	static const char cold[] = ".cold";
	const char *end = entry->name + entry->length;

	if (!(entry->rank & RANK_TYPED))
		return CODE_PART_UNKNOWN;
	while (end > entry->name &&
	       (end[-1] == '.' || (end[-1] >= '0' && end[-1] <= '9')))
		end--;
	if (end - entry->name > (ptrdiff_t)sizeof(cold) - 1 &&
	    memcmp(end - sizeof(cold) + 1, cold, sizeof(cold) - 1) == 0)
		return CODE_PART_COLD;
	return CODE_PART_FUNCTION;
}

/*
 * Adds the entries to the list, by address, except labels within functions and the
 * hypercall page. False if out of memory.
 */
static bool take_entries(struct symbols_entries *entries, struct functions *functions)
{
	struct code_function *list = calloc(entries->count + 1, sizeof(*list));
	const struct symbols_entry *last = NULL;

	if (!list)
		return false;
	functions->list = list;
	if (entries->count)
		qsort(entries->list, entries->count, sizeof(*entries->list),
		      compare_entries);
	for (size_t i = 0; i < entries->count; i++) {
		const struct symbols_entry *entry = &entries->list[i];
		bool is_sized = entry->extent == EXTENT_SIZED;
		struct code_function *to = &list[functions->count];

		if (!entry->name || (last && entry->start == last->start) ||
		    (last && !(entry->rank & RANK_TYPED) && entry->start <= last->last))
			continue;
		if (functions->count && !to[-1].size)
			to[-1].size = entry->start - to[-1].start;
		last = is_sized ? entry : NULL;
		if (hypercall_page_is_filled(entry))
			continue;
		*to = (struct code_function){
			.start = entry->start,
			.size = is_sized ? entry->last - entry->start + 1 : 0,
			.part = part_of(entry),
		};
		functions->count++;
	}
	return true;
}

/* The first function at or after @address. */
static size_t find_function(const struct functions *functions, uint64_t address)
{
	size_t from = 0, to = functions->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (functions->list[middle].start < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Sections of entries of equal size without symbols: .plt, .plt.got, .plt.sec */
static int add_plt(struct unwind_builder *builder, struct machine_code *code,
		   struct error *err)
{
	size_t count = code->size / PLT_ENTRY;
	struct code_function *list = calloc(count + 1, sizeof(*list));
	int status;

	if (!list)
		return error_set(err, "out of memory for the unwind table");
	for (size_t i = 0; i < count; i++)
		list[i] = (struct code_function){.start = code->address + i * PLT_ENTRY,
						 .size = PLT_ENTRY};
	code->functions = list;
	code->count = count;
	status = unwind_table_add_code(builder, code, err);
	free(list);
	return status;
}

static int add_range(struct unwind_builder *builder, const struct code_range *range,
		     const struct functions *functions, bool is_arm64, struct error *err)
{
	size_t first = find_function(functions, range->address);
	size_t end = find_function(functions, range->address + range->size);
	struct machine_code code = {
		.is_arm64 = is_arm64,
		.bytes = range->bytes,
		.size = range->size,
		.address = range->address,
		.functions = functions->list + first,
		.count = end - first,
	};

	if (first == end && range->size % PLT_ENTRY == 0)
		return add_plt(builder, &code, err);
	return unwind_table_add_code(builder, &code, err);
}

static int add_ranges(struct unwind_builder *builder, const void *data, size_t size,
		      uint64_t offset, const struct functions *functions, bool is_arm64,
		      struct error *err)
{
	struct code code;
	int status = 0;

	code_read(&code, data, size);
	for (size_t i = 0; i < code.count && !status; i++) {
		struct code_range *range = &code.list[i];

		range->address += offset;
		/* Sections may overlap in damaged files. */
		if (!i || range->address - range[-1].address >= range[-1].size)
			status = add_range(builder, range, functions, is_arm64, err);
	}
	code_free(&code);
	return status;
}

int unwind_table_add_elf_code(struct unwind_builder *builder, const char *path,
			      const void *data, size_t size, uint64_t offset,
			      const char *debug_directory, size_t *functions,
			      struct error *err)
{
	const struct symbols_options options = {.debug_directory = debug_directory};
	const struct symbols_elf_input input = {data, size, path, path, &options};
	struct symbols_entries entries = {0};
	struct symbols_debug debug = {0};
	struct symbols_file file = {0};
	struct functions found = {0};
	int status = -1;

	if (symbols_load_elf(&input, &entries, &file, &debug, err))
		goto out;
	if (!cpu_kind_has_tables(cpu_kind_of_elf(file.machine))) {
		error_set(err, "%s: its code is not for x86-64 or arm64", path);
	} else if (!take_entries(&entries, &found)) {
		error_set(err, "%s: out of memory", path);
	} else {
		*functions = found.count;
		for (size_t i = 0; i < found.count; i++)
			found.list[i].start += offset;
		status = add_ranges(builder, data, size, offset, &found,
				    file.machine == EM_AARCH64, err);
	}
out:
	free(found.list);
	free(entries.list);
	symbols_blocks_free(entries.blocks);
	symbols_debug_free(&debug);
	return status;
}
