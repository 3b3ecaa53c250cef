/* SPDX-License-Identifier: BSD-3-Clause */

/* The histogram as JSON, with details of the recording. */
#include "report/model/checks/ends.h"
#include "output/histogram/histogram.h"

#include "base/text.h"
#include "output/write/json.h"

static void put_domain(struct json *json, const struct recording_domain *domain)
{
	json_object(json, NULL);
	json_string(json, "name", domain->name);
	json_number(json, "id", domain->id);
	json_string(json, "type", guest_type_name((unsigned int)domain->type));
	json_string(json, "cpu", cpu_kind_name((unsigned int)domain->cpu));
	json_number(json, "vcpus", domain->vcpus);
	json_end(json);
}

static void put_recording(struct json *json, const struct summary *summary)
{
	const struct recording_info *info = &summary->info;
	double rate = summary_rate(summary);
	char time[TEXT_TIME_SIZE];

	json_object(json, "recording");
	json_array(json, "domains");
	for (size_t i = 0; i < summary->domain_room; i++)
		if (summary->domains[i])
			put_domain(json, summary->domains[i]);
	json_end(json);
	if (summary->has_info) {
		if (info->wall_start) {
			text_time(time, info->wall_start, true);
			json_string(json, "start", time);
		}
		json_string(json, "host", info->host);
		json_string(json, "tool", info->tool);
		json_string(json, "command", info->command);
		json_string(json, "hypervisor", info->hypervisor);
		json_real(json, "frequency_hz", (double)info->frequency / 1000, 3);
		if (*info->event)
			json_string(json, "event", info->event);
	}
	if (rate > 0)
		json_real(json, "rate_hz", rate, 3);
	json_real(json, "duration_s", (double)summary_duration(summary) / 1e9, 6);
	json_number(json, "lost", summary->counts.lost);
	json_number(json, "missed", summary->counts.missed);
	json_end(json);
}

/* The key, with a suffix if the value is in us. */
static void put_count(struct json *json, const char *key, uint64_t count, bool is_time)
{
	char with_unit[40];

	snprintf(with_unit, sizeof(with_unit), "%s%s", key, is_time ? "_us" : "");
	json_number(json, with_unit, count);
}

static void put_quality(struct json *json, const struct quality *quality)
{
	bool is_time = measure_is_time(quality->measure);

	json_object(json, "quality");
	put_count(json, "samples_unresolved",
		  quality->samples_unnamed + quality->samples_empty, is_time);
	put_count(json, "addresses", quality->frames, is_time);
	put_count(json, "addresses_unresolved", quality->frames_unnamed, is_time);
	put_count(json, "chains_cut_short", ends_cut(quality->ends), is_time);
	put_count(json, "chains_of_unknown_end", quality->ends[CHAIN_UNKNOWN], is_time);
	json_end(json);
}

static void put_row(struct json *json, const struct histogram *histogram,
		    const struct histogram_row *row, uint32_t vcpu_count)
{
	const struct report *report = histogram_report(histogram);
	bool is_time = measure_is_time(report->measure);

	json_object(json, NULL);
	if (report_shows_domains(report))
		json_string(json, "domain", row->domain);
	if (row->file)
		json_string(json, "file", row->file);
	if (report->view.rows == REPORT_ROWS_FUNCTIONS)
		json_string(json, "function", row->function);
	put_count(json, "self", row->self, is_time);
	json_real(json, "self_percent", histogram_percent(histogram, row->self), 3);
	if (!report->view.no_children) {
		put_count(json, "total", row->total, is_time);
		json_real(json, "total_percent", histogram_percent(histogram, row->total),
			  3);
	}
	if (vcpu_count) {
		json_array(json, is_time ? "self_by_vcpu_us" : "self_by_vcpu");
		for (uint32_t i = 0; i < vcpu_count; i++)
			json_number(json, NULL, row->vcpus[i]);
		json_end(json);
	}
	json_end(json);
}

/* Returns the name of the list of rows. */
static const char *rows_name(const struct report *report)
{
	static const char *const names[] = {
		[REPORT_ROWS_FUNCTIONS] = "functions",
		[REPORT_ROWS_FILES] = "files",
		[REPORT_ROWS_DOMAINS] = "domains",
	};

	return names[report->view.rows];
}

static int histogram_json_end(void *state)
{
	struct histogram *histogram = state;
	const struct report *report = histogram_report(histogram);
	const struct histogram_row *rows;
	const uint32_t *vcpus;
	uint32_t row_count, vcpu_count;
	struct json *json;

	if (histogram_finish(histogram) < 0)
		return -1;
	json = json_new(report->out);
	if (!json)
		return -1;
	row_count = histogram_rows(histogram, &rows);
	vcpu_count = histogram_vcpus(histogram, &vcpus);
	json_object(json, NULL);
	put_recording(json, report->summary);
	json_number(json, measure_name(report->measure), report->measure->total);
	put_count(json, "percent_of", report->measure->whole,
		  measure_is_time(report->measure));
	put_quality(json, report->quality);
	if (vcpu_count) {
		json_array(json, "vcpus");
		for (uint32_t i = 0; i < vcpu_count; i++)
			json_number(json, NULL, vcpus[i]);
		json_end(json);
	}
	json_array(json, rows_name(report));
	for (uint32_t i = 0; i < row_count; i++)
		put_row(json, histogram, &rows[i], vcpu_count);
	json_end(json);
	json_end(json);
	json_free(json);
	return 0;
}

const struct output output_histogram_json = {
	.name = "histogram-json",
	.about = "the same as JSON, with details of the recording",
	.has_columns = true,
	.has_limit = true,
	.counts_waits = true,
	.begin = histogram_begin,
	.sample = histogram_sample,
	.end = histogram_json_end,
	.free = histogram_free,
};
