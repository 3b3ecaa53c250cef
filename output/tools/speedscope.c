/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Speedscope's own format (speedscope.app/file-format-schema.json): a "sampled"
 * profile for each vCPU of each domain or, if they are told apart, for each thread of a
 * guest, in the order of time, outermost caller first.
 * Consecutive samples with the same call chain are merged. When
 * a thread did not wait, a profile of its waits has no chain. A frame is a function and
 * its symbol file; with source lines, a line of it and its source file. All numbers fit a
 * double, because the sum of all weights is at most MEASURE_MOST.
 */
#include "output/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/tree.h"
#include "report/model/domains.h"
#include "output/lanes.h"
#include "output/paths.h"
#include "output/write/json.h"

struct speedscope {
	const struct report *report;
	struct lanes *lanes;
	struct path_frames frames; /* "shared" */
	struct paths chains;	   /* of frames */
	struct json *json;
	uint64_t total; /* sum of the current profile's weights so far */
	uint64_t at;	/* of waits: the end of the last one, us since the start */
};

static void speedscope_free(void *state)
{
	struct speedscope *scope = state;

	if (!scope)
		return;
	lanes_free(scope->lanes);
	path_frames_free(&scope->frames);
	paths_free(&scope->chains);
	free(scope);
}

static bool shows_waits(const struct speedscope *scope)
{
	return scope->report->measure->weight == MEASURE_WAIT;
}

static void *speedscope_begin(const struct report *report)
{
	struct speedscope *scope = calloc(1, sizeof(*scope));

	if (!scope)
		return NULL;
	scope->report = report;
	/* Between two waits with one chain, the thread ran. */
	scope->lanes = lanes_new(report,
				 shows_waits(scope) ? LANES_OF_SAMPLES : LANES_OF_CHAINS);
	scope->chains = (struct paths){
		.report = report, .number = path_frames_number, .arg = &scope->frames};
	if (scope->lanes && path_frames_init(&scope->frames, report->frames) == 0 &&
	    paths_init(&scope->chains) == 0)
		return scope;
	speedscope_free(scope);
	return NULL;
}

static int speedscope_sample(void *state, const struct counted_sample *sample)
{
	struct speedscope *scope = state;

	return lanes_add(scope->lanes, sample);
}

static int speedscope_wait(void *state, const struct counted_wait *wait)
{
	struct speedscope *scope = state;

	return lanes_add(scope->lanes, &(struct counted_sample){.time = wait->from,
								.domain = wait->domain,
								.stack = wait->stack,
								.count = wait->count});
}

/* Returns the time, us, from the end of the wait before to this one; 0 for samples, which
 * follow each other. */
static uint64_t gap_before(struct speedscope *scope, const struct lane_run *run)
{
	uint64_t start = summary_start(scope->report->summary), before = scope->at, from;

	if (!shows_waits(scope))
		return 0;
	if (start < scope->report->measure->from)
		start = scope->report->measure->from;
	from = run->time > start ? run->time / 1000 - start / 1000 : 0;
	if (from < before)
		from = before;
	scope->at = from + run->count;
	return from - before;
}

static int put_chain(void *arg, const struct lane_run *run)
{
	struct speedscope *scope = arg;
	uint32_t path = paths_find(&scope->chains, run->stack), count;
	const uint32_t *frames;

	if (path == TREE_NONE)
		return -1;
	if (gap_before(scope, run))
		json_numbers(scope->json, NULL, NULL, 0);
	count = paths_list(&scope->chains, path, &frames);
	json_numbers(scope->json, NULL, frames, count);
	return count ? 0 : -1;
}

static int put_weight(void *arg, const struct lane_run *run)
{
	struct speedscope *scope = arg;
	uint64_t gap = gap_before(scope, run);

	if (gap)
		json_number(scope->json, NULL, gap);
	json_number(scope->json, NULL, run->count);
	scope->total += gap + run->count;
	return 0;
}

/* Writes an array with a value for each run of @count lanes. */
static int put_runs(struct speedscope *scope, const char *key, uint32_t first,
		    uint32_t count, int (*put)(void *arg, const struct lane_run *run))
{
	json_array(scope->json, key);
	scope->at = 0;
	for (uint32_t i = first; i < first + count && !ferror(scope->report->out); i++)
		if (lanes_visit(scope->lanes, i, put, scope) < 0)
			return -1;
	json_end(scope->json);
	return 0;
}

/* Writes one profile of @count lanes, which are of domains with one name. */
static int put_profile(struct speedscope *scope, uint32_t first, uint32_t count)
{
	bool is_time = measure_is_time(scope->report->measure);
	const struct lane *lane = lanes_get(scope->lanes, first);
	struct json *json = scope->json;
	char name[DOMAIN_NAME_SIZE + 32];

	scope->total = 0;
	if (lane->vcpu == LANE_OF_THREAD || shows_waits(scope))
		snprintf(name, sizeof(name), "%s", lane->name);
	else
		snprintf(name, sizeof(name), "%s vCPU %u", lane->name, lane->vcpu);
	json_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", name);
	json_string(json, "unit", is_time ? "microseconds" : "none");
	json_number(json, "startValue", 0);
	if (put_runs(scope, "samples", first, count, put_chain) < 0 ||
	    put_runs(scope, "weights", first, count, put_weight) < 0)
		return -1;
	json_number(json, "endValue", scope->total);
	json_end(json);
	return 0;
}

static int put_profiles(struct speedscope *scope)
{
	uint32_t lanes = lanes_count(scope->lanes), count;

	json_array(scope->json, "profiles");
	for (uint32_t i = 0; i < lanes; i += count) {
		const struct lane *first = lanes_get(scope->lanes, i), *other;

		for (count = 1; i + count < lanes; count++) {
			other = lanes_get(scope->lanes, i + count);
			if (other->vcpu != first->vcpu ||
			    strcmp(other->name, first->name) != 0)
				break;
		}
		if (put_profile(scope, i, count) < 0)
			return -1;
	}
	json_end(scope->json);
	return 0;
}

static void put_frames(const struct speedscope *scope)
{
	const struct frames *frames = scope->report->frames;
	struct json *json = scope->json;

	json_object(json, "shared");
	json_array(json, "frames");
	for (uint32_t i = 1; i < scope->frames.keys.count; i++) {
		uint64_t key = scope->frames.keys.nodes[i].key;
		struct frame_place place = frames_place(frames, (uint32_t)key);
		uint32_t file = (uint32_t)(key >> 32);

		json_object(json, NULL);
		json_string(json, "name", frames_function_name(frames, place.function));
		if (*place.path)
			json_string(json, "file", place.path);
		else if (file)
			json_string(json, "file", names_get(scope->frames.files, file));
		if (place.line)
			json_number(json, "line", place.line);
		json_end(json);
	}
	json_end(json);
	json_end(json);
}

static int speedscope_end(void *state)
{
	struct speedscope *scope = state;
	const struct report *report = scope->report;
	int status;

	if (lanes_finish(scope->lanes) < 0)
		return -1;
	scope->json = json_new(report->out);
	if (!scope->json)
		return -1;
	json_object(scope->json, NULL);
	json_string(scope->json, "$schema",
		    "https://www.speedscope.app/file-format-schema.json");
	json_string(scope->json, "exporter", "uniprof");
	json_string(scope->json, "name",
		    report->coverage->domain_count == 1 ? report->coverage->domain
							: "uniprof");
	status = put_profiles(scope);
	if (status == 0) {
		put_frames(scope);
		json_end(scope->json);
	}
	json_free(scope->json);
	return status;
}

const struct output output_speedscope = {
	.name = "speedscope",
	.about = "a timeline of each vCPU, for speedscope.app",
	.counts_waits = true,
	.splits_waits = true,
	.lines = OUTPUT_LINES_APART,
	.begin = speedscope_begin,
	.sample = speedscope_sample,
	.wait = speedscope_wait,
	.end = speedscope_end,
	.free = speedscope_free,
};
