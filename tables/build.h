/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_BUILD_H
#define UNIPROF_TABLES_BUILD_H

#include "unwind/table.h"

/* Makes unwind tables of rules, which may be added in any order. */

struct unwind_builder;

/*
 * Limits, which bound what a hostile file can cost: distinct rules, ranges, and bytes of
 * code in them. The largest program seen, clang 14 with all its libraries, has 1.5
 * million rows.
 */
#define TABLE_RULES_MAX	 ((size_t)1 << 20)
#define TABLE_RANGES_MAX ((size_t)1 << 24)
#define TABLE_BYTES_MAX	 ((uint64_t)1 << 34)

/* NULL if out of memory. */
struct unwind_builder *unwind_builder_new(void);
/* Marks rules that are added from now on as guesses. */
void unwind_builder_guess(struct unwind_builder *builder);
/* @builder may be NULL. */
void unwind_builder_free(struct unwind_builder *builder);

/*
 * Adds a rule from @start up to @end, excluded. Where an earlier call gave a rule, the
 * earlier one stays. Nothing is added for UNWIND_UNKNOWN, or if @start is not below @end.
 * -1 if out of memory or over the limits.
 */
int unwind_builder_add(struct unwind_builder *builder, uint64_t start, uint64_t end,
		       const struct unwind_rule *rule);

/* The number of a rule, which is added if it is new; 0 if out of memory or over the
 * limits. */
uint32_t unwind_builder_rule(struct unwind_builder *builder,
			     const struct unwind_rule *rule);

/* Adds the rule with the number @rule, like unwind_builder_add(); @start is below @end.
 */
int unwind_builder_add_range(struct unwind_builder *builder, uint64_t start, uint64_t end,
			     uint32_t rule);

/* Sorts the rules added since the last call, if they are all above earlier ones: a table
 * that is made of such parts needs no sorting in the end. False if out of memory. */
bool unwind_builder_settle(struct unwind_builder *builder);

/* Makes a table of all rules added so far, to be freed with unwind_table_free(). NULL if
 * out of memory. More can be added to the builder afterwards, for another table. */
struct unwind_table *unwind_builder_finish(struct unwind_builder *builder);

/* The rules from @start up to @end, excluded, are @distance bytes higher, a multiple of
 * 4096; sums wrap around. Or they are left out. */
struct table_move {
	uint64_t start, end;
	uint64_t distance;
	bool is_left_out;
};

/* A copy of the table with rules moved; of moves that overlap, the first is done. NULL if
 * out of memory, or if rules overlap then. */
struct unwind_table *unwind_table_move(const struct unwind_table *table,
				       const struct table_move *moves, size_t count);

/* The number of rows in segments that begin from @start up to @end, excluded. */
size_t unwind_table_rows_between(const struct unwind_table *table, uint64_t start,
				 uint64_t end);

#endif
