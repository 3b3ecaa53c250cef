/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "output/histogram/histogram.h"

static int compare_names(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return strcmp(x->domain, y->domain) ?: strcmp(x->function, y->function);
}

const struct diff_value *diff_shown(const struct diff *diff, const struct diff_row *row)
{
	return diff->sort == REPORT_SORT_TOTAL ? &row->total : &row->self;
}

bool diff_is_noise(const struct diff_rows *rows, const struct diff_value *value)
{
	/* Quantiles of the normal distribution at 0.05 / 2N for N = 1, 10, 100 and so on
	 * (Bonferroni's inequality), in units of that for N = 1: of many functions that
	 * did not change, a twentieth is outside the interval of one. */
	static const double wider[] = {1, 1.432, 1.776, 2.069, 2.329, 2.564};
	size_t i = 0, most = 1;

	for (; most < rows->count && i + 1 < sizeof(wider) / sizeof(wider[0]); i++)
		most *= 10;
	return value->delta + wider[i] * (value->low - value->delta) <= 0 &&
	       value->delta + wider[i] * (value->high - value->delta) >= 0;
}

static double size_of(const struct diff_value *value)
{
	return value->delta < 0 ? -value->delta : value->delta;
}

/* Sorts by the size of the change, as `perf diff` does, or by name. */
static int compare_changes(const void *a, const void *b, void *arg)
{
	const struct diff *diff = arg;
	double x = size_of(diff_shown(diff, a)), y = size_of(diff_shown(diff, b));

	return x == y || diff->sort == REPORT_SORT_NAME ? compare_names(a, b)
	       : x < y					? 1
							: -1;
}

/* Returns the square root of a number from 0 to 2, by Newton's method: the program is not
 * linked with the library of mathematics. */
static double square_root(double x)
{
	double root = 2;

	for (int i = 0; i < 60; i++)
		root = (root + x / root) / 2;
	return root;
}

static double length_of(double x, double y)
{
	return square_root(x * x + y * y);
}

/* The limits of a share, from 0 to 1 */
struct interval {
	double low, high;
};

/* Returns the 95 % interval of the share @p in @n samples (Wilson, "Probable inference",
 * 1927). */
static struct interval wilson_interval(double p, double n)
{
	const double z = 1.959964;
	double middle, width;

	if (n <= 0)
		return (struct interval){0, 1};
	middle = (p + z * z / (2 * n)) / (1 + z * z / n);
	width = z * square_root(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n);
	return (struct interval){middle - width, middle + width};
}

/* Returns the number of samples with equal weights that are worth as much as those of
 * the side (Kish, "Survey Sampling", 1965). Recordings without times, imported from
 * collapsed stacks, have sums of samples. */
static double samples_of(const struct diff *diff, int side)
{
	const struct measure *measure = diff->reports[side].measure;
	double whole = (double)measure->whole;

	if (!measure_is_time(measure) && !diff->reports[side].coverage->duration)
		return whole;
	return measure->squares > 0 ? whole * whole / measure->squares : 0;
}

/* Sets the difference and its interval (Newcombe, "Interval estimation for the difference
 * between independent proportions", 1998, method 10). */
static void set_delta(const struct diff *diff, struct diff_value *value)
{
	struct interval of[DIFF_SIDES];
	double p[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++) {
		p[side] = value->percent[side] / 100;
		of[side] = wilson_interval(p[side], samples_of(diff, side));
	}
	value->delta = value->percent[DIFF_NEW] - value->percent[DIFF_BASELINE];
	value->low = value->delta -
		     100 * length_of(p[DIFF_NEW] - of[DIFF_NEW].low,
				     of[DIFF_BASELINE].high - p[DIFF_BASELINE]);
	value->high = value->delta +
		      100 * length_of(of[DIFF_NEW].high - p[DIFF_NEW],
				      p[DIFF_BASELINE] - of[DIFF_BASELINE].low);
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

		row.self.count[side] = from[i].self;
		row.self.percent[side] = histogram_percent(histogram, from[i].self);
		row.total.count[side] = from[i].total;
		row.total.percent[side] = histogram_percent(histogram, from[i].total);
		rows->list[rows->count++] = row;
	}
	return 0;
}

static void add_value(struct diff_value *to, const struct diff_value *value)
{
	for (int side = 0; side < DIFF_SIDES; side++) {
		to->count[side] += value->count[side];
		to->percent[side] += value->percent[side];
	}
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
		add_value(&rows->list[kept - 1].self, &row->self);
		add_value(&rows->list[kept - 1].total, &row->total);
	}
	rows->count = kept;
}

static void drop_small(struct diff_rows *rows, const struct diff *diff)
{
	size_t kept = 0;

	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_value *value = diff_shown(diff, &rows->list[i]);

		if (value->percent[DIFF_BASELINE] >= diff->percent_limit ||
		    value->percent[DIFF_NEW] >= diff->percent_limit)
			rows->list[kept++] = rows->list[i];
	}
	rows->count = kept;
}

int diff_rows_make(struct diff_rows *rows, const struct diff *diff)
{
	*rows = (struct diff_rows){0};
	if (add_side(rows, diff, DIFF_BASELINE) < 0 || add_side(rows, diff, DIFF_NEW) < 0)
		return -1;
	qsort(rows->list, rows->count, sizeof(*rows->list), compare_names);
	join_rows(rows);
	drop_small(rows, diff);
	for (size_t i = 0; i < rows->count; i++) {
		set_delta(diff, &rows->list[i].self);
		set_delta(diff, &rows->list[i].total);
	}
	qsort_r(rows->list, rows->count, sizeof(*rows->list), compare_changes,
		(void *)diff);
	return 0;
}

void diff_rows_free(struct diff_rows *rows)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		histogram_free(rows->histograms[side]);
	free(rows->list);
}
