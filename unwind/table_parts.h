/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_TABLE_PARTS_H
#define UNIPROF_UNWIND_TABLE_PARTS_H

/* The layout of unwind tables in memory; for unwind/table.c, which looks up, and for
 * tables/build.c and tables/rows_file.c, which make and write tables. */

#include "unwind/table.h"

/*
 * A row has the offset of its first instruction in a 4 KiB page, and the number of a
 * rule. It applies up to the next row, also on later pages of its segment; rule 0 is
 * none.
 */
#define ROW_PAGE_SHIFT 12
#define ROW_RULE_BITS  20
#define ROW_RULE_MASK  ((1u << ROW_RULE_BITS) - 1)

/* Pages that are close to each other. The rows of page i are from index[i] up to
 * index[i + 1]. The first row is at the start of the first page. */
struct table_segment {
	uint64_t page; /* address >> ROW_PAGE_SHIFT */
	uint32_t pages;
	uint32_t index; /* where its part of the table's index starts */
};

struct unwind_table {
	size_t size; /* bytes, with the arrays, which follow it in this order */
	uint32_t segments, rules, indexes, rows;
	uint64_t serial;
	struct table_segment *segment; /* by address */
	struct unwind_rule *rule;      /* rule[0] is not used */
	uint32_t *index;
	uint32_t *row;
};

#endif
