/* SPDX-License-Identifier: BSD-3-Clause */

/* The histogram as comma-separated values (RFC 4180, but with Unix line ends). */
#include "report/output/histogram.h"

#include <inttypes.h>

#include "report/write/csv.h"

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
	bool has_domains = report_shows_domains(report);
	FILE *out = report->out;
	const struct histogram_row *rows;
	const uint32_t *vcpus;
	uint32_t row_count, vcpu_count;

	if (histogram_finish(histogram) < 0)
		return -1;
	row_count = histogram_rows(histogram, &rows);
	vcpu_count = histogram_vcpus(histogram, &vcpus);
	fprintf(out, "%sfunction,self%s,self_percent", has_domains ? "domain," : "",
		unit);
	if (!report->view.no_children)
		fprintf(out, ",total%s,total_percent", unit);
	for (uint32_t i = 0; i < vcpu_count; i++)
		fprintf(out, ",vcpu%" PRIu32 "%s", vcpus[i], unit);
	putc('\n', out);
	for (uint32_t i = 0; i < row_count; i++) {
		if (has_domains) {
			csv_text(out, rows[i].domain);
			putc(',', out);
		}
		csv_text(out, rows[i].function);
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
	.begin = histogram_begin,
	.sample = histogram_sample,
	.end = histogram_csv_end,
	.free = histogram_free,
};
