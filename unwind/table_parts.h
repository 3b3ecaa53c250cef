/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_UNWIND_TABLE_PARTS_H
#define UNIPROF_UNWIND_TABLE_PARTS_H

/* The insides of unwind tables; for unwind/table*.c only. */

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

/* Addresses from start up to end with one rule. */
struct table_range {
	uint64_t start, end;
	uint32_t order; /* the lowest one has priority */
	uint32_t rule;
};

/*
 * Limits, which bound what a hostile file can cost: distinct rules, ranges, and bytes of
 * code in them. The largest program seen, clang 14 with all its libraries, has 1.5
 * million rows.
 */
#define TABLE_RULES_MAX	 ((size_t)1 << ROW_RULE_BITS)
#define TABLE_RANGES_MAX ((size_t)1 << 24)
#define TABLE_BYTES_MAX	 ((uint64_t)1 << 34)

struct unwind_builder {
	struct table_range *range;
	size_t ranges, range_room;
	bool is_unsorted; /* ranges overlap or are not in ascending order */
	uint64_t bytes;	  /* sum of the ranges */
	struct unwind_rule *rule;
	size_t rules, rule_room; /* rule[0] is not used */
	uint32_t *slot;		 /* hash table of rules; 0: free */
	size_t slots;
	uint64_t seed;
};

/* The number of a rule that is known, or added; 0 on failure. */
uint32_t builder_rule(struct unwind_builder *builder, const struct unwind_rule *rule);

/* unwind_builder_add() for a rule by number. */
int builder_add_range(struct unwind_builder *builder, uint64_t start, uint64_t end,
		      uint32_t rule);

#endif
