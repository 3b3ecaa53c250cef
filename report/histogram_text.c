/* SPDX-License-Identifier: BSD-3-Clause */

/* The histogram as a table to read, times in ms; lines with '#' are not part of it. */
#include "report/histogram.h"

#include <inttypes.h>
#include <string.h>

static int digits_of(uint64_t number)
{
	int digits = 1;

	while (number /= 10)
		digits++;
	return digits;
}

/* How much is counted: samples, or seconds. */
static void put_total(const struct report *report)
{
	const struct measure *measure = report->measure;
	uint64_t total = measure->total;

	if (measure_is_time(measure))
		fprintf(report->out, "%.3f s of %s", (double)total / 1e6,
			measure->weight == MEASURE_CPU_TIME ? "CPU time" : "vCPU time");
	else
		fprintf(report->out, "%" PRIu64 " samples", total);
}

static void put_summary(const struct report *report)
{
	const struct quality *quality = report->quality;
	uint64_t cut = quality->samples - quality->ends[CHAIN_WHOLE];
	double percent = quality->samples ? 100.0 / (double)quality->samples : 0;
	bool is_time = measure_is_time(report->measure);

	if (report->domain_count > 1)
		fprintf(report->out, "# %zu domains: ", report->domain_count);
	else
		fprintf(report->out,
			"# %s: ", report->domain ? report->domain : "an unknown domain");
	put_total(report);
	fprintf(report->out, "%s in %.1f s\n", measure_states_note(report->measure),
		(double)summary_duration(report->summary) / 1e9);
	fprintf(report->out,
		"# %s%.1f %% of the %s have no name, "
		"%.1f %% of the call chains are cut short\n#\n",
		is_time ? "samples for " : "", (double)quality->samples_unnamed * percent,
		measure_noun(report->measure), (double)cut * percent);
}

/* How wide names of domains are at most; 0 when they are not shown. */
static int domain_width(const struct report *report, const struct histogram_row *rows,
			uint32_t count)
{
	int width = (int)strlen("domain");

	if (report->domain_count < 2)
		return 0;
	for (uint32_t i = 0; i < count; i++)
		if ((int)strlen(rows[i].domain) > width)
			width = (int)strlen(rows[i].domain);
	return width;
}

static void put_count(FILE *out, uint64_t count, int width, bool is_time)
{
	if (is_time)
		fprintf(out, "%*" PRIu64 ".%03" PRIu64 " ms", width - 7, count / 1000,
			count % 1000);
	else
		fprintf(out, "%*" PRIu64, width, count);
}

static int histogram_text_end(void *state)
{
	struct histogram *histogram = state;
	const struct report *report = histogram_report(histogram);
	bool is_time = measure_is_time(report->measure);
	FILE *out = report->out;
	const struct histogram_row *rows;
	const uint32_t *vcpus;
	uint32_t row_count, vcpu_count;
	int width, domains;

	if (histogram_finish(histogram) < 0)
		return -1;
	row_count = histogram_rows(histogram, &rows);
	vcpu_count = histogram_vcpus(histogram, &vcpus);
	domains = domain_width(report, rows, row_count);
	width = is_time ? digits_of(report->measure->total / 1000) + 7
			: digits_of(report->measure->total);
	if (width < 6)
		width = 6;

	put_summary(report);
	fprintf(out, "# %*s      %%  %*s      %%", width - 2, "self", width, "total");
	for (uint32_t i = 0; i < vcpu_count; i++)
		fprintf(out, "  %*s%-*" PRIu32, width - digits_of(vcpus[i]), "vcpu",
			digits_of(vcpus[i]), vcpus[i]);
	if (domains)
		fprintf(out, "  %-*s", domains, "domain");
	fputs("  function\n", out);
	for (uint32_t i = 0; i < row_count; i++) {
		put_count(out, rows[i].self, width, is_time);
		fprintf(out, " %5.1f%%  ", histogram_percent(histogram, rows[i].self));
		put_count(out, rows[i].total, width, is_time);
		fprintf(out, " %5.1f%%", histogram_percent(histogram, rows[i].total));
		for (uint32_t v = 0; v < vcpu_count; v++) {
			fputs("  ", out);
			put_count(out, rows[i].vcpus[v], width, is_time);
		}
		if (domains)
			fprintf(out, "  %-*s", domains, rows[i].domain);
		fprintf(out, "  %s\n", rows[i].function);
	}
	return 0;
}

const struct output output_histogram = {
	.name = "histogram",
	.about = "a table of functions, to read",
	.has_vcpu_columns = true,
	.begin = histogram_begin,
	.sample = histogram_sample,
	.end = histogram_text_end,
	.free = histogram_free,
};
