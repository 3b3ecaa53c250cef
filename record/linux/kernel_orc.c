/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kernel_orc.h"

#include <stdlib.h>

#include "base/clock.h"
#include "symbols/symbols.h"
#include "tables/orc.h"

/* Maximum number of rows; Debian's kernel 6.1 has 385,000. */
#define ROWS_MAX ((size_t)1 << 21)
/* Maximum size of a part that is code; that kernel's entries have 10 KB. */
#define CODE_MAX ((size_t)1 << 18)

/* Pages and time, ns, after which a look ends, and how many times that time passes until
 * the next one */
#define LOOK_PAGES  (KERNEL_ORC_MAPS / 2)
#define LOOK_NS	    (NS_PER_S / 500)
#define COST_FACTOR 4

/* Number of rows that are made rules at once, which takes less than a millisecond */
#define SLICE_ROWS 8192

/* Time after a look that found a page missing, ns, and number of such looks */
#define RETRY_NS    (NS_PER_S / 4)
#define MISSING_MAX 8

void kernel_orc_free(struct kernel_orc *orc)
{
	unwind_table_free(orc->table);
	unwind_builder_free(orc->builder);
	free(orc->bytes);
}

/* Ends the search, with or without a table. */
static void end_search(struct kernel_orc *orc)
{
	unwind_builder_free(orc->builder);
	orc->builder = NULL;
	free(orc->bytes);
	orc->bytes = NULL;
	orc->size = 0;
}

/* Whether the tables have equal numbers of rows, and code is not too large to be it. */
static bool are_parts(const struct orc_part *part)
{
	size_t count = part[ORC_IPS].size / ORC_IP_SIZE;

	return count && count <= ROWS_MAX &&
	       part[ORC_ROWS].size == count * ORC_ROW_SIZE &&
	       part[ORC_ENTRIES].size <= CODE_MAX && part[ORC_THUNKS].size <= CODE_MAX;
}

void kernel_orc_find(struct kernel_orc *orc, const struct kallsyms *kallsyms)
{
	/* Linux, include/asm-generic/vmlinux.lds.h, and arch/x86/kernel/vmlinux.lds.S */
	static const char *const names[2 * ORC_PARTS] = {
		"__start_orc_unwind_ip",  "__stop_orc_unwind_ip", "__start_orc_unwind",
		"__stop_orc_unwind",	  "__entry_text_start",	  "__entry_text_end",
		"__indirect_thunk_start", "__indirect_thunk_end",
	};
	uint64_t at[2 * ORC_PARTS];
	size_t size = 0;

	if (orc->table || orc->size)
		return;
	kallsyms_addresses(kallsyms, names, 2 * ORC_PARTS, at);
	for (int i = 0; i < ORC_PARTS; i++) {
		bool has_both = at[2 * i] && at[2 * i + 1] >= at[2 * i];

		orc->part[i].address = at[2 * i];
		orc->part[i].size = has_both ? at[2 * i + 1] - at[2 * i] : 0;
		size += orc->part[i].size;
	}
	if (!are_parts(orc->part))
		return;
	orc->bytes = malloc(size);
	orc->size = orc->bytes ? size : 0;
	orc->done = orc->added = 0;
}

bool kernel_orc_is_due(const struct kernel_orc *orc, const struct chain *chain,
		       uint64_t now)
{
	return orc->size && now >= orc->due && chain->count &&
	       chain->address[0] >= LINUX_START;
}

/* Copies up to a page of the next part. False if it is missing. */
static bool copy_page(struct kernel_orc *orc, const struct cpu *cpu,
		      const struct guest_memory *memory)
{
	const struct orc_part *part = orc->part;
	size_t at = orc->done, size;

	for (; at >= part->size; part++)
		at -= part->size;
	size = part->size - at < GUEST_PAGE_SIZE ? part->size - at : GUEST_PAGE_SIZE;
	if (!cpu_copy(cpu, memory, part->address + at, orc->bytes + orc->done, size))
		return false;
	orc->done += size;
	return true;
}

static size_t count_rows(const struct kernel_orc *orc)
{
	return orc->part[ORC_IPS].size / ORC_IP_SIZE;
}

/* Adds the rules of the next rows. False if out of memory. */
static bool add_slice(struct kernel_orc *orc)
{
	const struct orc_part *part = orc->part;
	const uint8_t *rows = orc->bytes + part[ORC_IPS].size,
		      *entries = rows + part[ORC_ROWS].size;
	size_t left = count_rows(orc) - orc->added;
	struct code_range code[] = {
		{part[ORC_ENTRIES].address, part[ORC_ENTRIES].size, entries},
		{part[ORC_THUNKS].address, part[ORC_THUNKS].size,
		 entries + part[ORC_ENTRIES].size},
	};
	const struct orc_module slice = {
		.ips = orc->bytes + orc->added * ORC_IP_SIZE,
		.rows = rows + orc->added * ORC_ROW_SIZE,
		/* with the row that ends the last one */
		.count = left > SLICE_ROWS ? SLICE_ROWS + 1 : left,
		.address = part[ORC_IPS].address + orc->added * ORC_IP_SIZE,
		.start = LINUX_START,
		.end = LINUX_END,
		.code = {CPU_X86_64, code, 2},
	};

	orc->added += SLICE_ROWS;
	return unwind_table_add_orc_module(orc->builder, &slice) == 0;
}

/* Goes on to make the table, up to LOOK_NS from @begun on. False if out of memory. */
static bool make_table(struct kernel_orc *orc, uint64_t begun)
{
	if (!orc->builder)
		orc->builder = unwind_builder_new();
	while (orc->builder && orc->added < count_rows(orc)) {
		if (clock_monotonic() - begun >= LOOK_NS)
			return true;
		if (!add_slice(orc))
			return false;
	}
	orc->table = orc->builder ? unwind_builder_finish(orc->builder) : NULL;
	if (orc->table && unwind_table_lock(orc->table) == 0)
		return true;
	unwind_table_free(orc->table);
	orc->table = NULL;
	return false;
}

/* Copies the next pages, up to LOOK_NS from @begun on. False if one is missing. */
static bool copy_pages(struct kernel_orc *orc, const struct cpu *cpu,
		       const struct guest_memory *memory, uint64_t begun)
{
	for (size_t i = 0; i < LOOK_PAGES && orc->done < orc->size; i++) {
		if (!copy_page(orc, cpu, memory))
			return false;
		if (clock_monotonic() - begun >= LOOK_NS)
			break;
	}
	return true;
}

bool kernel_orc_look(struct kernel_orc *orc, const struct cpu *cpu,
		     const struct guest_memory *memory, uint64_t now)
{
	uint64_t begun = clock_monotonic();

	if (cpu_kind(cpu) != CPU_X86_64)
		return false;
	if (orc->done < orc->size) {
		if (!copy_pages(orc, cpu, memory, begun)) {
			orc->due = now + RETRY_NS;
			if (++orc->missing == MISSING_MAX)
				end_search(orc);
			return false;
		}
	} else if (!make_table(orc, begun) || orc->table) {
		end_search(orc);
	}
	orc->due = now + COST_FACTOR * (clock_monotonic() - begun);
	return orc->table;
}
