/* SPDX-License-Identifier: BSD-3-Clause */
#include "unwind/table_parts.h"

#include <stdlib.h>
#include <sys/mman.h>

/* Lookups in unwind tables. tables/build.c makes tables. */

void unwind_table_free(struct unwind_table *table)
{
	free(table);
}

const void *unwind_table_memory(const struct unwind_table *table, size_t *size)
{
	*size = table->size;
	return table;
}

int unwind_table_lock(const struct unwind_table *table)
{
	return mlock(table, table->size);
}

size_t unwind_table_rows(const struct unwind_table *table)
{
	return table->rows;
}

uint64_t unwind_table_serial(const struct unwind_table *table)
{
	return table->serial;
}

/* Finds the last segment that starts at or before @page. */
static const struct table_segment *find_segment(const struct unwind_table *table,
						uint64_t page)
{
	uint32_t from = 0, to = table->segments;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (table->segment[middle].page <= page)
			from = middle + 1;
		else
			to = middle;
	}
	return from ? &table->segment[from - 1] : NULL;
}

const struct unwind_rule *unwind_table_find(const struct unwind_table *table,
					    uint64_t address)
{
	uint64_t page = address >> ROW_PAGE_SHIFT;
	const struct table_segment *segment = find_segment(table, page);
	const uint32_t *index, *row;
	uint32_t key = (uint32_t)address << ROW_RULE_BITS | ROW_RULE_MASK, count, rule;

	if (!segment || page - segment->page >= segment->pages)
		return NULL;
	index = &table->index[segment->index + (page - segment->page)];
	row = &table->row[index[0]];
	/* Without branches that depend on the address, which would be mispredicted. */
	for (count = index[1] - index[0]; count > 1; count -= count / 2)
		row += row[count / 2 - 1] <= key ? count / 2 : 0;
	row += count && *row <= key;
	rule = row[-1] & ROW_RULE_MASK;
	return rule ? &table->rule[rule] : NULL;
}
