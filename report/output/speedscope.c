/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Speedscope's own format (speedscope.app/file-format-schema.json): a "sampled"
 * profile for each vCPU of each domain, in the order of time, outermost caller first.
 * Consecutive samples with the same call chain are merged. A frame is a function and its
 * symbol file; with source lines, a line of it and its source file. All numbers fit a
 * double, because the sum of all weights is at most MEASURE_MOST.
 */
#include "report/output/output.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"
#include "report/model/domains.h"
#include "report/write/json.h"

struct run {
	uint64_t time; /* time of the first sample, ns */
	uint64_t count;
	uint32_t stack;
};

/* The samples of a vCPU */
struct lane {
	uint32_t domain, vcpu;
	const char *name; /* the domain's name, set at the end */
	struct run *runs;
	size_t count, capacity;
	uint64_t last; /* time of the last sample, ns */
	bool is_mixed; /* the samples' times are not ascending */
};

struct speedscope {
	const struct report *report;
	struct tree index;  /* one root; keys: domain and vCPU */
	struct lane *lanes; /* by node of index, less 1 */
	uint32_t lane_count, lane_capacity;
	struct names *files;
	struct tree frames; /* one root; keys: symbol file and place */
	struct json *json;
};

static void speedscope_free(void *state)
{
	struct speedscope *scope = state;

	if (!scope)
		return;
	for (uint32_t i = 0; i < scope->lane_count; i++)
		free(scope->lanes[i].runs);
	free(scope->lanes);
	tree_free(&scope->index);
	tree_free(&scope->frames);
	if (scope->files)
		names_free(scope->files);
	free(scope);
}

static void *speedscope_begin(const struct report *report)
{
	struct speedscope *scope = calloc(1, sizeof(*scope));

	if (!scope)
		return NULL;
	scope->report = report;
	scope->files = names_new();
	if (tree_init(&scope->index, 1) < 0 || tree_init(&scope->frames, 1) < 0 ||
	    !scope->files || names_intern(scope->files, "") != 0) {
		speedscope_free(scope);
		return NULL;
	}
	return scope;
}

/* Returns the vCPU's lane, created if needed; NULL if out of memory. */
static struct lane *find_lane(struct speedscope *scope, uint32_t domain, uint32_t vcpu)
{
	uint32_t node = tree_intern(&scope->index, 0, (uint64_t)domain << 32 | vcpu);

	if (node == TREE_NONE)
		return NULL;
	if (node > scope->lane_capacity) {
		uint32_t capacity = scope->index.capacity;

		if (!array_grow(&scope->lanes, capacity, sizeof(*scope->lanes)))
			return NULL;
		scope->lane_capacity = capacity;
	}
	if (node > scope->lane_count)
		scope->lanes[scope->lane_count++] = (struct lane){.domain = domain,
								  .vcpu = vcpu};
	return &scope->lanes[node - 1];
}

static int speedscope_sample(void *state, const struct counted_sample *sample)
{
	struct lane *lane = find_lane(state, sample->domain, sample->vcpu);
	struct run *last;

	if (!lane)
		return -1;
	last = lane->count ? &lane->runs[lane->count - 1] : NULL;
	lane->is_mixed |= last && sample->time < lane->last;
	lane->last = sample->time;
	if (last && last->stack == sample->stack && !lane->is_mixed) {
		last->count += sample->count;
		return 0;
	}
	if (lane->count == lane->capacity) {
		size_t capacity = lane->capacity ? lane->capacity * 2 : 64;

		if (!array_grow(&lane->runs, capacity, sizeof(*lane->runs)))
			return -1;
		lane->capacity = capacity;
	}
	lane->runs[lane->count++] = (struct run){sample->time, sample->count,
						 sample->stack};
	return 0;
}

static int compare_runs(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	return (x->time > y->time) - (x->time < y->time);
}

/* Sorts lanes by domain name and vCPU, then by domain index: a rebooted guest has a
 * higher one. */
static int compare_lanes(const void *a, const void *b)
{
	const struct lane *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	if (order)
		return order;
	if (x->vcpu != y->vcpu)
		return x->vcpu < y->vcpu ? -1 : 1;
	return (x->domain > y->domain) - (x->domain < y->domain);
}

static int sort_lanes(struct speedscope *scope)
{
	struct frames *frames = scope->report->frames;

	for (uint32_t i = 0; i < scope->lane_count; i++) {
		struct lane *lane = &scope->lanes[i];
		uint32_t name = frames_domain(frames, lane->domain);

		if (name == FRAMES_NONE)
			return -1;
		lane->name = frames_function_name(frames, name);
		if (lane->is_mixed)
			qsort(lane->runs, lane->count, sizeof(*lane->runs), compare_runs);
	}
	if (scope->lane_count)
		qsort(scope->lanes, scope->lane_count, sizeof(*scope->lanes),
		      compare_lanes);
	return 0;
}

/* Adds the number of a place of the symbol file in "shared"; -1 if out of memory.
 */
static int put_frame(struct speedscope *scope, const char *dso, uint32_t place)
{
	uint32_t file = dso ? names_intern(scope->files, dso) : 0, node;

	if (file == NAMES_NONE || place == FRAMES_NONE)
		return -1;
	node = tree_intern(&scope->frames, 0, (uint64_t)file << 32 | place);
	if (node == TREE_NONE)
		return -1;
	json_number(scope->json, NULL, node - 1);
	return 0;
}

/* Writes the functions at an address, outermost first. */
static int put_functions(struct speedscope *scope, uint32_t number)
{
	const struct frames *frames = scope->report->frames;
	const struct frame *frame = frames_get(frames, number);

	for (uint32_t i = frame->function_count; i-- > 0;)
		if (put_frame(scope, frame->dso, frames_place_at(frames, frame, i)) < 0)
			return -1;
	return 0;
}

static int put_chain(struct speedscope *scope, uint32_t stack)
{
	const struct stacks *stacks = scope->report->stacks;
	uint32_t chain[RECORDING_MAX_DEPTH], depth = 0;
	enum frame_use use = FRAME_LEAF;
	int status = 0;

	for (; stacks_is_address(stacks, stack); use = FRAME_CALLER) {
		const struct tree_node *node = &stacks->tree.nodes[stack];

		chain[depth] = frames_find(scope->report->frames, stacks->domain[stack],
					   node->key, use);
		if (chain[depth++] == FRAMES_NONE)
			return -1;
		stack = node->parent;
	}
	json_array(scope->json, NULL);
	if (!depth)
		status = put_frame(
			scope, NULL,
			frames_place_of(scope->report->frames, FRAMES_EMPTY_CHAIN));
	while (depth-- > 0 && status == 0)
		status = put_functions(scope, chain[depth]);
	json_end(scope->json);
	return status;
}

/* Writes one profile of the lanes, which are of domains with one name. */
static int put_profile(struct speedscope *scope, const struct lane *lanes, uint32_t count)
{
	bool is_time = measure_is_time(scope->report->measure);
	struct json *json = scope->json;
	char name[DOMAIN_NAME_SIZE + 32];
	uint64_t total = 0;

	snprintf(name, sizeof(name), "%s vCPU %u", lanes->name, lanes->vcpu);
	json_object(json, NULL);
	json_string(json, "type", "sampled");
	json_string(json, "name", name);
	json_string(json, "unit", is_time ? "microseconds" : "none");
	json_number(json, "startValue", 0);
	json_array(json, "samples");
	for (uint32_t i = 0; i < count; i++)
		for (size_t j = 0; j < lanes[i].count && !ferror(scope->report->out); j++)
			if (put_chain(scope, lanes[i].runs[j].stack) < 0)
				return -1;
	json_end(json);
	json_array(json, "weights");
	for (uint32_t i = 0; i < count; i++) {
		for (size_t j = 0; j < lanes[i].count; j++) {
			json_number(json, NULL, lanes[i].runs[j].count);
			total += lanes[i].runs[j].count;
		}
	}
	json_end(json);
	json_number(json, "endValue", total);
	json_end(json);
	return 0;
}

static int put_profiles(struct speedscope *scope)
{
	uint32_t count;

	json_array(scope->json, "profiles");
	for (uint32_t i = 0; i < scope->lane_count; i += count) {
		const struct lane *lane = &scope->lanes[i];

		for (count = 1; i + count < scope->lane_count; count++)
			if (lane[count].vcpu != lane->vcpu ||
			    strcmp(lane[count].name, lane->name) != 0)
				break;
		if (put_profile(scope, lane, count) < 0)
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
	for (uint32_t i = 1; i < scope->frames.count; i++) {
		uint64_t key = scope->frames.nodes[i].key;
		struct frame_place place = frames_place(frames, (uint32_t)key);
		uint32_t file = (uint32_t)(key >> 32);

		json_object(json, NULL);
		json_string(json, "name", frames_function_name(frames, place.function));
		if (*place.path)
			json_string(json, "file", place.path);
		else if (file)
			json_string(json, "file", names_get(scope->files, file));
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

	if (sort_lanes(scope) < 0)
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
	.lines = OUTPUT_LINES_APART,
	.begin = speedscope_begin,
	.sample = speedscope_sample,
	.end = speedscope_end,
	.free = speedscope_free,
};
