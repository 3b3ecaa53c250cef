/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/heading.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/text.h"
#include "report/model/checks/ends.h"
#include "output/write/svg.h"

/* Maximum length of the host's name, in characters */
#define MOST_OF_HOST 60

const char *heading_name(char to[HEADING_NAME_SIZE], const struct report *report)
{
	if (report->coverage->domain_count > 1)
		snprintf(to, HEADING_NAME_SIZE, "%zu %s", report->coverage->domain_count,
			 report->coverage->has_threads	   ? "threads"
			 : report->coverage->has_processes ? "processes"
							   : "domains");
	else
		snprintf(to, HEADING_NAME_SIZE, "%s",
			 report->coverage->domain ? report->coverage->domain
						  : "an unknown domain");
	return to;
}

const char *heading_title(char to[HEADING_TITLE_SIZE], const struct report *report,
			  const char *kind)
{
	char name[HEADING_NAME_SIZE];

	if (report->view.title)
		return report->view.title;
	snprintf(to, HEADING_TITLE_SIZE, "%s of %s", kind, heading_name(name, report));
	return to;
}

size_t heading_columns(const struct report *report)
{
	return report->view.columns ? report->view.columns : text_columns(report->out);
}

/* Writes how much is counted, in samples or seconds, and the total before filtering. */
static void put_total(const struct report *report)
{
	const struct measure *measure = report->measure;
	uint64_t total = measure->total, whole = measure->whole;

	if (measure_is_time(measure)) {
		fprintf(report->out, "%.3f s of ", (double)total / 1e6);
		if (total != whole)
			fprintf(report->out, "%.3f s of ", (double)whole / 1e6);
		fputs(measure_long_noun(measure), report->out);
		return;
	}
	fprintf(report->out, "%" PRIu64, total);
	if (total != whole)
		fprintf(report->out, " of %" PRIu64, whole);
	fprintf(report->out, " %s", measure_noun(measure));
}

/* Writes for how long there are samples, unless none has a time, or there is only one. */
static void put_duration(const struct report *report)
{
	uint64_t duration = report->coverage->duration;

	if (duration >= NS_PER_S / 20)
		fprintf(report->out, " in %.1f s", (double)duration / NS_PER_S);
	else if (duration)
		fprintf(report->out, " in %.3g ms", (double)duration / 1e6);
}

void heading_write(const struct report *report)
{
	const struct quality *quality = report->quality;
	uint64_t unknown = quality->ends[CHAIN_UNKNOWN];
	double percent = quality->samples ? 100.0 / (double)quality->samples : 0;
	bool is_time = measure_is_time(report->measure);
	char name[HEADING_NAME_SIZE];

	fprintf(report->out, "# %s: ", heading_name(name, report));
	put_total(report);
	fputs(measure_states_note(report->measure), report->out);
	put_duration(report);
	fputc('\n', report->out);
	fprintf(report->out,
		"# %s%.1f %% of the %s have no name, "
		"%.1f %% of the call chains are cut short",
		is_time ? "samples for " : "",
		(double)(quality->samples_unnamed + quality->samples_empty) * percent,
		measure_noun(report->measure), (double)ends_cut(quality->ends) * percent);
	if (unknown)
		fprintf(report->out, ", %.1f %% have an unknown end",
			(double)unknown * percent);
	fputs("\n#\n", report->out);
}

void heading_count(FILE *out, const struct measure *measure, uint64_t count)
{
	const char *unit = measure_is_time(measure) ? "us"
			   : count == 1 && !measure_is_event(measure)
				   ? "sample"
				   : measure_noun(measure);

	fprintf(out, "%" PRIu64 " %s", count, unit);
}

static void put_recording(const struct report *report)
{
	const struct recording_info *info = &report->summary->info;
	double rate = summary_rate(report->summary);
	char time[TEXT_TIME_SIZE];
	FILE *out = report->out;

	put_duration(report);
	if (rate > 0)
		fprintf(out, " at %.4g Hz", rate);
	if (info->wall_start) {
		text_time(time, info->wall_start, true);
		fprintf(out, " from %s", time);
	}
	if (*info->host) {
		fputs(" on ", out);
		svg_text(out, info->host, MOST_OF_HOST);
	}
}

void heading_svg(const struct report *report, const char *label, unsigned int line)
{
	const struct measure *measure = report->measure;
	FILE *out = report->out;

	svg_line_begin(out, line);
	svg_text(out, label, SIZE_MAX);
	if (measure_is_time(measure))
		fprintf(out, "%.3f s of %s", (double)measure->total / 1e6,
			measure_long_noun(measure));
	else
		heading_count(out, measure, measure->total);
	fputs(measure_states_note(measure), out);
	put_recording(report);
	svg_line_end(out);
}

/* Writes how long guests were paused, and what was missed; nothing for imports, which
 * don't say. */
static void put_costs(const struct report *report)
{
	const struct sampling_counts *counts = &report->summary->counts;
	uint64_t duration = summary_duration(report->summary);
	FILE *out = report->out;

	if (!counts->pauses.count)
		return;
	if (duration)
		fprintf(out, "paused for %.2f %% of the time, ",
			100 * (double)counts->pauses.sum / (double)duration);
	fprintf(out, "rounds missed: %" PRIu64 " (%.1f %%), ", counts->missed,
		100 * summary_missed(report->summary));
	if (counts->lost)
		fprintf(out, "samples lost: %" PRIu64 ", ", counts->lost);
}

void heading_bill(const struct report *report, const char *label, unsigned int line)
{
	const struct quality *quality = report->quality;
	double percent = quality->samples ? 100.0 / (double)quality->samples : 0;
	FILE *out = report->out;

	svg_line_begin(out, line);
	svg_text(out, label, SIZE_MAX);
	put_costs(report);
	fprintf(out,
		"call chains cut short: %.1f %%, of unknown end: %.1f %%, %s without a "
		"name: %.1f %%",
		(double)ends_cut(quality->ends) * percent,
		(double)quality->ends[CHAIN_UNKNOWN] * percent,
		measure_noun(report->measure),
		(double)(quality->samples_unnamed + quality->samples_empty) * percent);
	svg_line_end(out);
}
