/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/heading.h"

#include <inttypes.h>

/* How much is counted: samples, or seconds; and of how much it is a part. */
static void put_total(const struct report *report)
{
	const struct measure *measure = report->measure;
	uint64_t total = measure->total, whole = measure->whole;

	if (measure_is_time(measure)) {
		fprintf(report->out, "%.3f s of ", (double)total / 1e6);
		if (total != whole)
			fprintf(report->out, "%.3f s of ", (double)whole / 1e6);
		fputs(measure->weight == MEASURE_CPU_TIME ? "CPU time" : "vCPU time",
		      report->out);
		return;
	}
	fprintf(report->out, "%" PRIu64, total);
	if (total != whole)
		fprintf(report->out, " of %" PRIu64, whole);
	fputs(" samples", report->out);
}

void heading_write(const struct report *report)
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
		(double)report->duration / 1e9);
	fprintf(report->out,
		"# %s%.1f %% of the %s have no name, "
		"%.1f %% of the call chains are cut short\n#\n",
		is_time ? "samples for " : "",
		(double)(quality->samples_unnamed + quality->samples_empty) * percent,
		measure_noun(report->measure), (double)cut * percent);
}
