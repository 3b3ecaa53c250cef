/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The processed profile format of the Firefox Profiler (profiler.firefox.com), version 61
 * (github.com/firefox-devtools/profiler: docs-developer/CHANGELOG-formats.md,
 * src/types/profile.ts): tables of columns. A domain is a process, a vCPU (or,
 * if they are told apart, a thread of a guest's process) is a thread, and each sample has
 * its time, in ms. The state of the vCPU is the category of the sampled frame, whose
 * colour fills the track; "transparent" stands for idle. Pauses, missed rounds and lost
 * samples are markers of the first thread.
 */
#include "output/firefox/firefox.h"
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/text.h"
#include "report/model/checks/ends.h"
#include "report/model/domains.h"
#include "output/chunks.h"
#include "output/heading.h"
#include "output/perf/perf.h"

#define FORMAT_VERSION 61
/* Of Firefox's own format before processing: nothing reads it in such a profile. */
#define GECKO_VERSION 29

struct firefox {
	const struct report *report;
	struct lanes *lanes; /* of leaves */
	struct firefox_tables tables;
	struct perf_threads threads;
	struct chunks chunks;
	double interval; /* ms between two rounds */
	struct json *json;
};

static void firefox_free(void *state)
{
	struct firefox *firefox = state;

	if (!firefox)
		return;
	json_free(firefox->json);
	lanes_free(firefox->lanes);
	firefox_tables_free(&firefox->tables);
	perf_threads_free(&firefox->threads);
	chunks_free(&firefox->chunks);
	free(firefox);
}

static void *firefox_begin(const struct report *report)
{
	struct firefox *firefox = calloc(1, sizeof(*firefox));

	if (!firefox)
		return NULL;
	firefox->report = report;
	firefox->lanes = lanes_new(report, LANES_OF_SAMPLES);
	if (firefox_tables_init(&firefox->tables, report) == 0 &&
	    perf_threads_init(&firefox->threads, report->summary) == 0 && firefox->lanes)
		return firefox;
	firefox_free(firefox);
	return NULL;
}

static int firefox_sample(void *state, const struct counted_sample *sample)
{
	struct firefox *firefox = state;
	struct counted_sample with_leaf = *sample;

	with_leaf.stack = firefox_leaf(&firefox->tables, sample->stack, sample->state);
	if (with_leaf.stack == TREE_NONE ||
	    chunks_note(&firefox->chunks, firefox->report->summary, sample->time) < 0)
		return -1;
	return lanes_add(firefox->lanes, &with_leaf);
}

/* ns since the start of the recording */
static uint64_t time_of(const struct firefox *firefox, uint64_t time)
{
	uint64_t start = summary_start(firefox->report->summary);

	return time > start ? time - start : 0;
}

static uint64_t end_time(const struct firefox *firefox)
{
	return summary_duration(firefox->report->summary);
}

/* Writes a time in ms. */
static void put_ns(struct firefox *firefox, const char *key, uint64_t ns)
{
	json_decimal(firefox->json, key, ns, 6);
}

static double interval_of(const struct report *report)
{
	double rate = summary_rate(report->summary);

	return rate > 0 ? 1000 / rate : 1;
}

static void put_category(struct json *json, const char *name, const char *colour)
{
	json_object(json, NULL);
	json_string(json, "name", name);
	json_string(json, "color", colour);
	json_array(json, "subcategories");
	json_string(json, NULL, "Other");
	json_end(json);
	json_end(json);
}

/* By enum vcpu_state. */
static void put_categories(struct json *json)
{
	static const char *const colours[SUMMARY_STATES] = {
		[VCPU_UNKNOWN] = "grey",
		[VCPU_RUNNING] = "yellow",
		[VCPU_RUNNABLE] = "orange",
		[VCPU_BLOCKED] = "transparent",
	};

	json_array(json, "categories");
	for (unsigned int i = 0; i < SUMMARY_STATES; i++)
		put_category(json, i == VCPU_UNKNOWN ? "Other" : vcpu_state_name(i),
			     colours[i]);
	json_end(json);
}

/* A kind of marker: what chunks counted since the last one, as a number, and for how long
 * if it is known. */
static const struct marker_kind {
	const char *name, *about, *field, *label;
	size_t count; /* offset in struct chunk_counts */
	bool has_time;
} marker_kinds[] = {
	{"Pauses", "The guests were paused to be sampled", "pauses", "Pauses",
	 offsetof(struct chunk_counts, pauses), true},
	{"Missed rounds", "Rounds of samples that would have been too late", "rounds",
	 "Rounds", offsetof(struct chunk_counts, missed), false},
	{"Lost samples", "Samples lost because the recorder's buffer was full", "samples",
	 "Samples", offsetof(struct chunk_counts, lost), false},
};

#define MARKER_KINDS (sizeof(marker_kinds) / sizeof(marker_kinds[0]))

static void put_field(struct json *json, const char *key, const char *label,
		      const char *format)
{
	json_object(json, NULL);
	json_string(json, "key", key);
	json_string(json, "label", label);
	json_string(json, "format", format);
	json_end(json);
}

static void put_marker_schema(struct json *json)
{
	json_array(json, "markerSchema");
	for (size_t i = 0; i < MARKER_KINDS; i++) {
		const struct marker_kind *kind = &marker_kinds[i];

		json_object(json, NULL);
		json_string(json, "name", kind->name);
		json_string(json, "description", kind->about);
		json_array(json, "display");
		json_string(json, NULL, "marker-chart");
		json_string(json, NULL, "marker-table");
		json_string(json, NULL, "timeline-overview");
		json_end(json);
		json_array(json, "fields");
		put_field(json, kind->field, kind->label, "integer");
		if (kind->has_time)
			put_field(json, "paused", "Paused for", "nanoseconds");
		json_end(json);
		json_end(json);
	}
	json_end(json);
}

/* A marker, and what to write of it. */
struct marker {
	const struct marker_kind *kind;
	uint64_t start, end; /* ns */
	uint64_t count, ns;
};

static uint64_t count_of(const struct marker_kind *kind, const struct chunk_counts *chunk)
{
	return *(const uint64_t *)((const char *)chunk + kind->count);
}

/* Sets @marker to what the chunk has of a kind; false if it has nothing. */
static bool marker_of(const struct firefox *firefox, size_t chunk,
		      const struct marker_kind *kind, struct marker *marker)
{
	const struct chunk_counts *at = &firefox->chunks.list[chunk];
	const struct chunk_counts own = chunks_own(&firefox->chunks, chunk);
	bool is_last = chunk + 1 == firefox->chunks.count;

	*marker = (struct marker){
		.kind = kind,
		.start = time_of(firefox, at->time),
		.end = is_last ? end_time(firefox) : time_of(firefox, at[1].time),
		.count = count_of(kind, &own),
		.ns = own.paused,
	};
	if (marker->end < marker->start)
		marker->end = marker->start;
	return marker->count != 0;
}

typedef void marker_cell(struct firefox *firefox, const struct marker *marker);

static void put_marker_column(struct firefox *firefox, const char *key, marker_cell *put)
{
	struct marker marker;

	json_array(firefox->json, key);
	for (size_t i = 0; put && i < firefox->chunks.count; i++)
		for (size_t k = 0; k < MARKER_KINDS; k++)
			if (marker_of(firefox, i, &marker_kinds[k], &marker))
				put(firefox, &marker);
	json_end(firefox->json);
}

static void cell_data(struct firefox *firefox, const struct marker *marker)
{
	json_object(firefox->json, NULL);
	json_string(firefox->json, "type", marker->kind->name);
	json_number(firefox->json, marker->kind->field, marker->count);
	if (marker->kind->has_time)
		json_number(firefox->json, "paused", marker->ns);
	json_end(firefox->json);
}

static void cell_name(struct firefox *firefox, const struct marker *marker)
{
	json_number(firefox->json, NULL,
		    firefox_text(&firefox->tables, marker->kind->name));
}

static void cell_start(struct firefox *firefox, const struct marker *marker)
{
	put_ns(firefox, NULL, marker->start);
}

static void cell_end(struct firefox *firefox, const struct marker *marker)
{
	put_ns(firefox, NULL, marker->end);
}

/* An interval */
static void cell_phase(struct firefox *firefox, const struct marker *marker)
{
	(void)marker;
	json_number(firefox->json, NULL, 1);
}

static void cell_category(struct firefox *firefox, const struct marker *marker)
{
	(void)marker;
	json_number(firefox->json, NULL, VCPU_UNKNOWN);
}

static uint64_t count_markers(const struct firefox *firefox)
{
	struct marker marker;
	uint64_t count = 0;

	for (size_t i = 0; i < firefox->chunks.count; i++)
		for (size_t k = 0; k < MARKER_KINDS; k++)
			count += marker_of(firefox, i, &marker_kinds[k], &marker);
	return count;
}

/* Writes the markers of a thread, which are empty unless @is_first. */
static void put_markers(struct firefox *firefox, bool is_first)
{
	static const struct {
		const char *key;
		marker_cell *put;
	} columns[] = {
		{"data", cell_data},   {"name", cell_name},   {"startTime", cell_start},
		{"endTime", cell_end}, {"phase", cell_phase}, {"category", cell_category},
	};

	json_object(firefox->json, "markers");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		put_marker_column(firefox, columns[i].key,
				  is_first ? columns[i].put : NULL);
	json_number(firefox->json, "length", is_first ? count_markers(firefox) : 0);
	json_end(firefox->json);
}

static int put_stack(void *arg, const struct lane_run *run)
{
	struct firefox *firefox = arg;

	json_number(firefox->json, NULL, firefox_stack(&firefox->tables, run->stack));
	return 0;
}

static int put_time(void *arg, const struct lane_run *run)
{
	struct firefox *firefox = arg;

	put_ns(firefox, NULL, time_of(firefox, run->time));
	return 0;
}

static int put_weight(void *arg, const struct lane_run *run)
{
	struct firefox *firefox = arg;

	if (measure_is_time(firefox->report->measure))
		json_decimal(firefox->json, NULL, run->count, 3);
	else
		json_number(firefox->json, NULL, run->count);
	return 0;
}

/* Writes the CPU time in us since the vCPU's last sample: what is counted, or what the
 * rate lets expect. */
static int put_cpu_time(void *arg, const struct lane_run *run)
{
	struct firefox *firefox = arg;
	const struct measure *measure = firefox->report->measure;
	unsigned int vcpu_state = firefox_state(&firefox->tables, run->stack);
	double expected = (double)run->count * firefox->interval * 1000;

	if (measure->weight == MEASURE_CPU_TIME)
		json_number(firefox->json, NULL, run->count);
	else if (vcpu_state == VCPU_UNKNOWN)
		json_null(firefox->json, NULL);
	else if (vcpu_state != VCPU_RUNNING)
		json_number(firefox->json, NULL, 0);
	else if (measure_is_time(measure))
		json_number(firefox->json, NULL, run->count);
	else
		json_number(firefox->json, NULL,
			    expected < (double)MEASURE_MOST ? (uint64_t)expected
							    : MEASURE_MOST);
	return 0;
}

static int put_samples(struct firefox *firefox, uint32_t lane)
{
	static const struct {
		const char *key;
		int (*put)(void *arg, const struct lane_run *run);
	} columns[] = {{"stack", put_stack},
		       {"time", put_time},
		       {"weight", put_weight},
		       {"threadCPUDelta", put_cpu_time}};
	struct json *json = firefox->json;

	json_object(json, "samples");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		json_array(json, columns[i].key);
		if (lanes_visit(firefox->lanes, lane, columns[i].put, firefox) < 0)
			return -1;
		json_end(json);
	}
	json_string(json, "weightType",
		    measure_is_time(firefox->report->measure) ? "tracing-ms" : "samples");
	json_number(json, "length", lanes_runs(firefox->lanes, lane));
	json_end(json);
	return 0;
}

/* Whether both lanes are of one process, as Firefox shows them: by the pid. */
static bool has_pid(struct firefox *firefox, uint32_t number, uint32_t pid)
{
	const struct lane *lane = lanes_get(firefox->lanes, number);
	struct perf_thread thread;

	perf_thread(&firefox->threads, &thread, lane->domain, lane->vcpu);
	return thread.pid == pid;
}

/* Names the lane's thread, and its process: DOMAIN or DOMAIN:COMM[PID], without the
 * thread. */
static void name_lane(const struct firefox *firefox, const struct lane *lane,
		      char thread[DOMAIN_PROCESS_SIZE], char process[DOMAIN_NAME_SIZE])
{
	const struct recording_domain *of = summary_domain(firefox->report->summary,
							   lane->domain);
	struct recording_domain leader;

	snprintf(thread, DOMAIN_PROCESS_SIZE, "vCPU %" PRIu32, lane->vcpu);
	snprintf(process, DOMAIN_NAME_SIZE, "%s", lane->name);
	if (!of || !of->process.tid)
		return;
	snprintf(thread, DOMAIN_PROCESS_SIZE, "thread %" PRIu64, of->process.tid);
	if (*of->process.thread)
		text_clean(thread, of->process.thread);
	leader = *of;
	leader.process.tid = 0;
	domain_name(process, &leader);
	text_clean(process, process);
}

static int put_thread(struct firefox *firefox, uint32_t number)
{
	const struct lane *lane = lanes_get(firefox->lanes, number);
	struct json *json = firefox->json;
	char name[DOMAIN_PROCESS_SIZE], process[DOMAIN_NAME_SIZE], text[32];
	struct perf_thread thread;
	bool is_first;

	perf_thread(&firefox->threads, &thread, lane->domain, lane->vcpu);
	is_first = number == 0 || !has_pid(firefox, number - 1, thread.pid);
	name_lane(firefox, lane, name, process);

	json_object(json, NULL);
	json_string(json, "processType", "default");
	json_number(json, "processStartupTime", 0);
	json_null(json, "processShutdownTime");
	json_number(json, "registerTime", 0);
	json_null(json, "unregisterTime");
	json_array(json, "pausedRanges");
	json_end(json);
	json_bool(json, "showMarkersInTimeline", number == 0);
	json_string(json, "name", name);
	json_bool(json, "isMainThread", is_first);
	json_string(json, "processName", process);
	snprintf(text, sizeof(text), "%" PRIu32, thread.pid);
	json_string(json, "pid", text);
	/* As in perf's formats */
	json_number(json, "tid", thread.tid);
	if (put_samples(firefox, number) < 0)
		return -1;
	put_markers(firefox, number == 0);
	json_end(json);
	return 0;
}

static int put_threads(struct firefox *firefox)
{
	json_array(firefox->json, "threads");
	for (uint32_t i = 0; i < lanes_count(firefox->lanes); i++)
		if (ferror(firefox->report->out) || put_thread(firefox, i) < 0)
			return -1;
	json_end(firefox->json);
	return 0;
}

static void put_entry(struct json *json, const char *label, const char *format,
		      double value)
{
	json_object(json, NULL);
	json_string(json, "label", label);
	json_string(json, "format", format);
	json_real(json, "value", value, 6);
	json_end(json);
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

/* Writes what the profile lacks, as shares from 0 to 1. */
static void put_quality(struct json *json, const struct report *report)
{
	const struct quality *quality = report->quality;
	const struct summary *summary = report->summary;

	json_array(json, "extra");
	json_object(json, NULL);
	json_string(json, "label", "What is missing or doubtful");
	json_array(json, "entries");
	put_entry(json, "Without a name", "percentage",
		  share_of(quality->samples_unnamed + quality->samples_empty,
			   quality->samples));
	put_entry(json, "Call chains cut short", "percentage",
		  share_of(ends_cut(quality->ends), quality->samples));
	put_entry(json, "Call chains of unknown end", "percentage",
		  share_of(quality->ends[CHAIN_UNKNOWN], quality->samples));
	put_entry(json, "Rounds missed", "percentage", summary_missed(summary));
	put_entry(json, "Time for which the guests were paused", "percentage",
		  share_of(summary->counts.pauses.sum, summary_duration(summary)));
	json_end(json);
	json_end(json);
	json_end(json);
}

static void put_meta(struct firefox *firefox)
{
	const struct report *report = firefox->report;
	const struct recording_info *info = &report->summary->info;
	struct json *json = firefox->json;
	char name[HEADING_NAME_SIZE];

	json_object(json, "meta");
	json_number(json, "version", GECKO_VERSION);
	json_number(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_string(json, "product", heading_name(name, report));
	json_string(json, "importedFrom", "uniprof");
	json_string(json, "arguments", info->command);
	json_string(json, "platform", info->hypervisor);
	put_ns(firefox, "startTime", info->wall_start);
	json_number(json, "profilingStartTime", 0);
	put_ns(firefox, "profilingEndTime", end_time(firefox));
	json_real(json, "interval", firefox->interval, 6);
	json_object(json, "sampleUnits");
	json_string(json, "time", "ms");
	json_string(json, "eventDelay", "ms");
	json_string(json, "threadCPUDelta", "µs");
	json_end(json);
	json_number(json, "processType", 0);
	json_number(json, "stackwalk", 1);
	json_bool(json, "debug", false);
	json_bool(json, "symbolicated", true);
	json_bool(json, "usesOnlyOneStackType", true);
	json_bool(json, "sourceCodeIsNotOnSearchfox", true);
	json_bool(json, "keepProfileThreadOrder", true);
	put_categories(json);
	put_marker_schema(json);
	put_quality(json, report);
	json_end(json);
}

static int firefox_end(void *state)
{
	struct firefox *firefox = state;

	if (lanes_finish(firefox->lanes) < 0)
		return -1;
	firefox->json = json_new(firefox->report->out);
	if (!firefox->json)
		return -1;
	firefox->interval = interval_of(firefox->report);
	json_object(firefox->json, NULL);
	put_meta(firefox);
	/* The tables are last, as texts are added to them before. */
	if (put_threads(firefox) < 0)
		return ferror(firefox->report->out) ? 0 : -1;
	if (firefox_tables_write(&firefox->tables, firefox->json) < 0)
		return -1;
	json_end(firefox->json);
	return 0;
}

const struct output output_firefox = {
	.name = "firefox",
	.about = "a timeline of samples and pauses, for profiler.firefox.com",
	.one_recording = true,
	.lines = OUTPUT_LINES_APART,
	.begin = firefox_begin,
	.sample = firefox_sample,
	.end = firefox_end,
	.free = firefox_free,
};
