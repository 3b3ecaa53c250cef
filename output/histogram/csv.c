/* SPDX-License-Identifier: BSD-3-Clause */

/* The histogram as comma-separated values (RFC 4180, but with Unix line ends). */
#include "output/histogram/histogram.h"

#include <inttypes.h>

#include "output/write/csv.h"

/* Writes the names of a row or, if it is NULL, of its columns. */
static void put_names(const struct report *report, const struct histogram_row *row)
{
	bool has_file = report->view.rows == REPORT_ROWS_FILES ||
			report->view.shows_files;
	const struct {
		bool is_shown;
		const char *column, *name;
	} names[] = {
		{report_shows_domains(report), "domain", row ? row->domain : NULL},
		{has_file, "file", row ? row->file : NULL},
		{report->view.rows == REPORT_ROWS_FUNCTIONS, "function",
		 row ? row->function : NULL},
	};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!names[i].is_shown)
			continue;
		fputs(separator, report->out);
		csv_text(report->out, row ? names[i].name : names[i].column);
		separator = ",";
	}
}

static void put_share(const struct histogram *histogram, uint64_t count)
{
	fprintf(histogram_report(histogram)->out, ",%" PRIu64 ",%.3f", count,
		histogram_percent(histogram, count));
}

static int histogram_csv_end(void *state)
{
	struct histogram *histogram = state;
	const struct report *report = histogram_report(histogram);
	const char *unit = measure_is_time(report->measure) ? "_us" : "";
	FILE *out = report->out;
	const struct histogram_row *rows;
	const uint32_t *vcpus;
	uint32_t row_count, vcpu_count;

	if (histogram_finish(histogram) < 0)
		return -1;
	row_count = histogram_rows(histogram, &rows);
	vcpu_count = histogram_vcpus(histogram, &vcpus);
	put_names(report, NULL);
	fprintf(out, ",self%s,self_percent", unit);
	if (!report->view.no_children)
		fprintf(out, ",total%s,total_percent", unit);
	for (uint32_t i = 0; i < vcpu_count; i++)
		fprintf(out, ",vcpu%" PRIu32 "%s", vcpus[i], unit);
	putc('\n', out);
	for (uint32_t i = 0; i < row_count; i++) {
		put_names(report, &rows[i]);
		put_share(histogram, rows[i].self);
		if (!report->view.no_children)
			put_share(histogram, rows[i].total);
		for (uint32_t v = 0; v < vcpu_count; v++)
			fprintf(out, ",%" PRIu64, rows[i].vcpus[v]);
		putc('\n', out);
	}
	return 0;
}

const struct output output_histogram_csv = {
	.name = "histogram-csv",
	.about = "the same as CSV",
	.has_columns = true,
	.has_limit = true,
	.counts_waits = true,
	.begin = histogram_begin,
	.sample = histogram_sample,
	.end = histogram_csv_end,
	.free = histogram_free,
};
