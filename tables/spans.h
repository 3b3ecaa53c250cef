/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_SPANS_H
#define UNIPROF_TABLES_SPANS_H

#include "tables/program_table.h"

/* Addresses with code of a program, as the table has them. A kernel may have code far
 * apart, with programs between. */
struct table_span {
	uint64_t start, end;
};

/* Number of the program's spans, at least 1. */
size_t table_span_count(const struct program_table *table, size_t number);
struct table_span table_span_get(const struct program_table *table, size_t number,
				 size_t span);

/* Whether two programs have code in one block of @unit bytes, a power of two, in the
 * guest. */
bool table_spans_overlap(const struct placed_table *placed, size_t a, size_t b,
			 uint64_t unit);

#endif
