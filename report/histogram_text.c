/* SPDX-License-Identifier: BSD-3-Clause */

/* The histogram as a table to read; lines with '#' are not part of it. */
#include "report/histogram.h"

#include <inttypes.h>

#include "report/text.h"

static int digits_of(uint64_t number)
{
	int digits = 1;

	while (number /= 10)
		digits++;
	return digits;
}

/* What was recorded, in a word. */
static void name_domains(char *to, size_t size, const struct summary *summary)
{
	const struct recording_domain *domain = NULL;

	for (size_t i = 0; i < summary->domain_room && !domain; i++)
		domain = summary->domains[i];
	if (summary->domain_count > 1)
		snprintf(to, size, "%zu domains", summary->domain_count);
	else
		snprintf(to, size, "%s", domain ? domain->name : "an unknown domain");
	text_clean(to, to);
}

static void put_summary(const struct report *report)
{
	const struct summary *summary = report->summary;
	const struct quality *quality = report->quality;
	uint64_t cut = quality->samples - quality->ends[CHAIN_WHOLE];
	double percent = quality->samples ? 100.0 / (double)quality->samples : 0;
	char name[256];

	name_domains(name, sizeof(name), summary);
	fprintf(report->out, "# %s: %" PRIu64 " samples in %.1f s\n", name,
		summary->weight, (double)summary_duration(summary) / 1e9);
	fprintf(report->out,
		"# %.1f %% of the samples have no name, "
		"%.1f %% of the call chains are cut short\n#\n",
		(double)quality->samples_unnamed * percent, (double)cut * percent);
}

static int histogram_text_end(void *state)
{
	struct histogram *histogram = state;
	FILE *out = histogram_report(histogram)->out;
	const struct histogram_row *rows;
	const uint32_t *vcpus;
	uint32_t row_count, vcpu_count;
	int width;

	if (histogram_finish(histogram) < 0)
		return -1;
	row_count = histogram_rows(histogram, &rows);
	vcpu_count = histogram_vcpus(histogram, &vcpus);
	width = digits_of(histogram_report(histogram)->summary->weight);
	if (width < 6)
		width = 6;

	put_summary(histogram_report(histogram));
	fprintf(out, "# %*s      %%  %*s      %%", width - 2, "self", width, "total");
	for (uint32_t i = 0; i < vcpu_count; i++)
		fprintf(out, "  %*s%-*" PRIu32, width - digits_of(vcpus[i]), "vcpu",
			digits_of(vcpus[i]), vcpus[i]);
	fputs("  function\n", out);
	for (uint32_t i = 0; i < row_count; i++) {
		fprintf(out, "%*" PRIu64 " %5.1f%%  %*" PRIu64 " %5.1f%%", width,
			rows[i].self, histogram_percent(histogram, rows[i].self), width,
			rows[i].total, histogram_percent(histogram, rows[i].total));
		for (uint32_t v = 0; v < vcpu_count; v++)
			fprintf(out, "  %*" PRIu64, width, rows[i].vcpus[v]);
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
