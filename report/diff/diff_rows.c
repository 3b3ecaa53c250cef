/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/output/histogram/histogram.h"

static int compare_names(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return strcmp(x->domain, y->domain) ?: strcmp(x->function, y->function);
}

static double change_of(const struct diff_row *row)
{
	double delta = row->percent[DIFF_NEW] - row->percent[DIFF_BASELINE];

	return delta < 0 ? -delta : delta;
}

/* Sorts by the size of the change, as `perf diff` does. */
static int compare_changes(const void *a, const void *b)
{
	double x = change_of(a), y = change_of(b);

	return x != y ? (x < y ? 1 : -1) : compare_names(a, b);
}

static int add_side(struct diff_rows *rows, const struct diff *diff, enum diff_side side)
{
	struct histogram *histogram = histogram_begin(&diff->reports[side]);
	const struct histogram_row *from;
	uint32_t count;

	rows->histograms[side] = histogram;
	if (!histogram || histogram_finish(histogram) < 0)
		return -1;
	count = histogram_rows(histogram, &from);
	if (!array_grow(&rows->list, rows->count + count + 1, sizeof(*rows->list)))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		struct diff_row row = {
			.domain = diff->has_domains ? from[i].domain : "",
			.function = from[i].function,
		};

		row.count[side] = from[i].self;
		row.percent[side] = histogram_percent(histogram, from[i].self);
		rows->list[rows->count++] = row;
	}
	return 0;
}

/* Merges adjacent rows with equal names. */
static void join_rows(struct diff_rows *rows)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct diff_row *row = &rows->list[i];

		if (!kept || compare_names(&rows->list[kept - 1], row) != 0) {
			rows->list[kept++] = *row;
			continue;
		}
		for (int side = 0; side < DIFF_SIDES; side++) {
			rows->list[kept - 1].count[side] += row->count[side];
			rows->list[kept - 1].percent[side] += row->percent[side];
		}
	}
	rows->count = kept;
}

static void drop_small(struct diff_rows *rows, double limit)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->list[i].percent[DIFF_BASELINE] >= limit ||
		    rows->list[i].percent[DIFF_NEW] >= limit)
			rows->list[kept++] = rows->list[i];
	rows->count = kept;
}

int diff_rows_make(struct diff_rows *rows, const struct diff *diff)
{
	*rows = (struct diff_rows){0};
	if (add_side(rows, diff, DIFF_BASELINE) < 0 || add_side(rows, diff, DIFF_NEW) < 0)
		return -1;
	qsort(rows->list, rows->count, sizeof(*rows->list), compare_names);
	join_rows(rows);
	drop_small(rows, diff->percent_limit);
	qsort(rows->list, rows->count, sizeof(*rows->list), compare_changes);
	return 0;
}

void diff_rows_free(struct diff_rows *rows)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		histogram_free(rows->histograms[side]);
	free(rows->list);
}
