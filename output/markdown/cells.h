/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_MARKDOWN_CELLS_H
#define UNIPROF_OUTPUT_MARKDOWN_CELLS_H

#include "output/output.h"

/* Parts of the page's tables. */

/* Maximum number of characters of a name */
#define MOST_OF_NAME 200

/* Writes text from outside, which is not clean, as a code span. */
void cell_text(FILE *out, const char *text);

/* Writes a count: samples, or a time in ms. */
void cell_count(const struct report *report, uint64_t count);

double cell_percent(uint64_t part, uint64_t whole);

/* Writes two cells: a count and its share of all. */
void cells_share(const struct report *report, uint64_t count);

/* Writes a cell with the domain's name, if domains are told apart; the second one: a
 * text. */
void cell_domain(const struct report *report, const char *name);
void cell_domain_head(const struct report *report, const char *text);

/* Writes a row for @count further rows that have @sum. */
void cells_others(const struct report *report, size_t count, uint64_t sum,
		  const char *cells, const char *what);

static inline bool shows_waits(const struct report *report)
{
	return report->measure->weight == MEASURE_WAIT;
}

#endif
