/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/linux/kernel_orc.h"

#include <stdlib.h>

#include "base/clock.h"
#include "format/buffer.h"
#include "symbols/symbols.h"
#include "tables/orc.h"

/* Maximum number of rows; Debian's kernel 6.1 has 385,000. */
#define ROWS_MAX ((size_t)1 << 21)
/* Maximum size of a part that is code; that kernel's entries have 10 KB. */
#define CODE_MAX ((size_t)1 << 18)

/* Number of rows added to the table at a time, which takes less than a millisecond */
#define SLICE_ROWS 8192

void kernel_orc_free(struct kernel_orc *orc)
{
	unwind_table_free(orc->table);
	unwind_builder_free(orc->builder);
	kernel_copy_end(&orc->copy);
}

/* Ends the search, with or without a table. */
static void end_search(struct kernel_orc *orc)
{
	unwind_builder_free(orc->builder);
	orc->builder = NULL;
	kernel_copy_end(&orc->copy);
}

/* Whether the tables have equal numbers of rows, and the code has a likely size. */
static bool are_parts(const struct kernel_part *part)
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
	struct kernel_part *part = orc->copy.part;
	uint64_t at[2 * ORC_PARTS];

	if (orc->table || orc->copy.size)
		return;
	kallsyms_addresses(kallsyms, names, 2 * ORC_PARTS, at);
	for (int i = 0; i < ORC_PARTS; i++) {
		bool has_both = at[2 * i] && at[2 * i + 1] >= at[2 * i];

		part[i].address = at[2 * i];
		part[i].size = has_both ? at[2 * i + 1] - at[2 * i] : 0;
	}
	if (are_parts(part))
		kernel_copy_begin(&orc->copy);
	orc->added = 0;
}

static size_t count_rows(const struct kernel_orc *orc)
{
	return orc->copy.part[ORC_IPS].size / ORC_IP_SIZE;
}

/* Address where the code of a row starts, which is relative to where the row is. */
static uint64_t row_start(const struct kernel_orc *orc, size_t row)
{
	const struct kernel_part *ips = &orc->copy.part[ORC_IPS];
	size_t at = row * ORC_IP_SIZE;

	return ips->address + at +
	       (uint64_t)(int64_t)(int32_t)get_le32(orc->copy.bytes + at);
}

/* Adds the rules of the next rows, and of the code that they describe: in this order,
 * nothing is left to sort in the end. False if out of memory. */
static bool add_slice(struct kernel_orc *orc)
{
	const struct kernel_part *part = orc->copy.part;
	const uint8_t *rows = orc->copy.bytes + part[ORC_IPS].size,
		      *entries = rows + part[ORC_ROWS].size;
	size_t left = count_rows(orc) - orc->added;
	uint64_t start = orc->added ? row_start(orc, orc->added) : 0,
		 end = left > SLICE_ROWS ? row_start(orc, orc->added + SLICE_ROWS)
					 : LINUX_END;
	struct code_range code[] = {
		{part[ORC_ENTRIES].address, part[ORC_ENTRIES].size, entries},
		{part[ORC_THUNKS].address, part[ORC_THUNKS].size,
		 entries + part[ORC_ENTRIES].size},
	};
	const struct orc_module slice = {
		.ips = orc->copy.bytes + orc->added * ORC_IP_SIZE,
		.rows = rows + orc->added * ORC_ROW_SIZE,
		/* with the row that ends the last one */
		.count = left > SLICE_ROWS ? SLICE_ROWS + 1 : left,
		.address = part[ORC_IPS].address + orc->added * ORC_IP_SIZE,
		.start = start > LINUX_START ? start : LINUX_START,
		.end = end < LINUX_END ? end : LINUX_END,
		.code = {CPU_X86_64, code, 2},
	};

	orc->added += SLICE_ROWS;
	return unwind_table_add_orc_module(orc->builder, &slice) == 0;
}

/* Goes on to make the table, up to KERNEL_LOOK_NS from the CPU time @begun on. False if
 * out of memory.
 */
static bool make_table(struct kernel_orc *orc, uint64_t begun)
{
	if (!orc->builder)
		orc->builder = unwind_builder_new();
	while (orc->builder && orc->added < count_rows(orc)) {
		if (clock_thread() - begun >= KERNEL_LOOK_NS)
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

bool kernel_orc_look(struct kernel_orc *orc, const struct cpu *cpu,
		     const struct guest_memory *memory, uint64_t now)
{
	uint64_t begun = clock_thread();

	if (cpu_kind(cpu) != CPU_X86_64 ||
	    !kernel_copy_look(&orc->copy, cpu, memory, now))
		return false;
	if (!make_table(orc, begun) || orc->table)
		end_search(orc);
	kernel_copy_rest(&orc->copy, now, begun);
	return orc->table;
}
