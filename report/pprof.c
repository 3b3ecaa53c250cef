/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What pprof reads (go tool pprof, github.com/google/pprof), and with it Speedscope,
 * Pyroscope, Grafana: a gzipped Profile message. Messages, field numbers and rules are
 * those of pprof's proto/profile.proto; its text is cited where it is quoted.
 *
 * Samples of one vCPU and one chain are one Sample, as "the result has a list of
 * values that is the element-wise sum". There is one value: samples, or the time they
 * count for, in ns. Labels tell vCPU and domain. With several domains, the domain's
 * name is the outermost frame too.
 *
 * A symbol file is a Mapping of all addresses: where a guest has it mapped is not
 * known, and names have been found already. pprof takes a mapping from 0 to the end
 * for addresses that are the file's own (internal/elfexec/elfexec.go, GetBase()), so
 * that it can disassemble.
 */
#include "report/output.h"

#include <stdlib.h>
#include <string.h>

#include "report/gzip.h"
#include "report/names.h"
#include "report/protobuf.h"
#include "report/tree.h"

/* The fields of each message that are used. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
};

enum value_type_field {
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2
};
enum sample_field {
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3
};
enum label_field {
	LABEL_KEY = 1,
	LABEL_STR = 2
};
enum line_field {
	LINE_FUNCTION_ID = 1
};
enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3
};

enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
};

enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
};

/* What has an id: the roots of the tree of ids, and what their children's keys are. */
enum kind {
	KIND_LEAF,     /* a location: the frame's number */
	KIND_CALLER,   /* the same */
	KIND_BARE,     /* a location without address: the function's number */
	KIND_FUNCTION, /* the function's number */
	KIND_MAPPING,  /* the file name's place in the string table */
	KINDS
};

struct pprof {
	const struct report *report;
	struct tree sampled; /* one root; the keys: chain and vCPU */
	uint64_t *counts;    /* by node of it */
	uint32_t counts_capacity;

	struct tree ids;       /* an id is its node's number */
	struct names *strings; /* the string table */
	struct gzip *gzip;
	struct buffer profile; /* what was not written yet of it */
	struct buffer message; /* one of its fields */
	struct buffer part;    /* of that message */
	bool failed;	       /* memory was short */
};

static void pprof_free(void *state)
{
	struct pprof *pprof = state;

	if (!pprof)
		return;
	tree_free(&pprof->sampled);
	free(pprof->counts);
	tree_free(&pprof->ids);
	if (pprof->strings)
		names_free(pprof->strings);
	gzip_free(pprof->gzip);
	buffer_free(&pprof->profile);
	buffer_free(&pprof->message);
	buffer_free(&pprof->part);
	free(pprof);
}

static void *pprof_begin(const struct report *report)
{
	struct pprof *pprof = calloc(1, sizeof(*pprof));

	if (!pprof)
		return NULL;
	pprof->report = report;
	pprof->strings = names_new();
	pprof->gzip = gzip_new(report->out);
	/* "string_table[0] must always be """. */
	if (tree_init(&pprof->sampled, 1) < 0 || tree_init(&pprof->ids, KINDS) < 0 ||
	    !pprof->strings || !pprof->gzip || names_intern(pprof->strings, "") != 0) {
		pprof_free(pprof);
		return NULL;
	}
	return pprof;
}

static int pprof_sample(void *state, const struct output_sample *sample)
{
	struct pprof *pprof = state;
	uint32_t node = tree_intern(&pprof->sampled, 0,
				    (uint64_t)sample->stack << 32 | sample->vcpu);

	if (node == TREE_NONE)
		return -1;
	if (node >= pprof->counts_capacity) {
		uint32_t old = pprof->counts_capacity;
		uint32_t capacity = pprof->sampled.capacity;
		uint64_t *grown = realloc(pprof->counts, capacity * sizeof(*grown));

		if (!grown)
			return -1;
		memset(grown + old, 0, (capacity - old) * sizeof(*grown));
		pprof->counts = grown;
		pprof->counts_capacity = capacity;
	}
	pprof->counts[node] += sample->count;
	return 0;
}

static uint32_t id_of(struct pprof *pprof, enum kind kind, uint64_t key)
{
	uint32_t id = tree_intern(&pprof->ids, kind, key);

	pprof->failed |= id == TREE_NONE;
	return id;
}

/* Its place in the string table. */
static uint32_t string_of(struct pprof *pprof, const char *text)
{
	uint32_t string = names_intern(pprof->strings, text);

	pprof->failed |= string == NAMES_NONE;
	return string;
}

static const char *function_name(const struct pprof *pprof, uint32_t function)
{
	return frames_function_name(pprof->report->frames, function);
}

/* Writes what is in profile. */
static void write_out(struct pprof *pprof)
{
	pprof->failed |= pprof->profile.failed;
	gzip_put(pprof->gzip, pprof->profile.data, pprof->profile.size);
	buffer_reset(&pprof->profile);
}

/* Adds the message to profile and begins the next one. */
static void end_message(struct pprof *pprof, enum profile_field field)
{
	pprof->failed |= pprof->message.failed;
	protobuf_bytes(&pprof->profile, field, pprof->message.data, pprof->message.size);
	buffer_reset(&pprof->message);
	write_out(pprof);
}

/* The same for what is in the message. */
static void end_part(struct pprof *pprof, uint32_t field)
{
	pprof->failed |= pprof->part.failed;
	protobuf_bytes(&pprof->message, field, pprof->part.data, pprof->part.size);
	buffer_reset(&pprof->part);
}

static void put_value_type(struct pprof *pprof, enum profile_field field,
			   const char *type, const char *unit)
{
	protobuf_number(&pprof->message, VALUE_TYPE_TYPE, string_of(pprof, type));
	protobuf_number(&pprof->message, VALUE_TYPE_UNIT, string_of(pprof, unit));
	end_message(pprof, field);
}

static uint64_t fit_int64(uint64_t value)
{
	return value < INT64_MAX ? value : INT64_MAX;
}

static void put_head(struct pprof *pprof)
{
	static const char *const types[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "cpu",
		[MEASURE_WALL] = "wall",
	};
	const struct summary *summary = pprof->report->summary;
	const struct recording_info *info = &summary->info;
	const struct measure *measure = pprof->report->measure;

	put_value_type(pprof, PROFILE_SAMPLE_TYPE, types[measure->weight],
		       measure_is_time(measure) ? "nanoseconds" : "count");
	put_value_type(pprof, PROFILE_PERIOD_TYPE, "wall", "nanoseconds");
	/* The frequency is in rounds per 1,000 s. */
	if (info->frequency)
		protobuf_number(&pprof->profile, PROFILE_PERIOD,
				1000000000000 / info->frequency);
	protobuf_number(&pprof->profile, PROFILE_TIME_NANOS, fit_int64(info->wall_start));
	protobuf_number(&pprof->profile, PROFILE_DURATION_NANOS,
			fit_int64(pprof->report->duration));
	write_out(pprof);
}

/* Adds a location's id to the part. */
static void add_location(struct pprof *pprof, enum kind kind, uint32_t key)
{
	pprof->failed |= key == FRAMES_NONE;
	buffer_put_varint(&pprof->part, id_of(pprof, kind, key));
}

/* "The leaf is at location_id[0]." */
static void put_chain(struct pprof *pprof, uint32_t stack)
{
	const struct report *report = pprof->report;
	const struct stacks *stacks = report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	uint32_t domain = stacks->domain[stack];
	enum frame_use use = FRAME_LEAF;

	if (!stacks_is_address(stacks, stack))
		add_location(pprof, KIND_BARE, FRAMES_EMPTY_CHAIN);
	for (; stacks_is_address(stacks, stack); stack = nodes[stack].parent) {
		add_location(pprof, use == FRAME_LEAF ? KIND_LEAF : KIND_CALLER,
			     frames_find(report->frames, domain, nodes[stack].key, use));
		use = FRAME_CALLER;
	}
	if (report->domain_count > 1)
		add_location(pprof, KIND_BARE, frames_domain(report->frames, domain));
	end_part(pprof, SAMPLE_LOCATION_ID);
}

static void put_label(struct pprof *pprof, const char *key, const char *value)
{
	protobuf_number(&pprof->part, LABEL_KEY, string_of(pprof, key));
	protobuf_number(&pprof->part, LABEL_STR, string_of(pprof, value));
	end_part(pprof, SAMPLE_LABEL);
}

static void put_sample(struct pprof *pprof, uint64_t key, uint64_t count)
{
	const struct report *report = pprof->report;
	uint32_t stack = (uint32_t)(key >> 32), vcpu = (uint32_t)key;
	uint32_t domain = frames_domain(report->frames, report->stacks->domain[stack]);
	bool is_time = measure_is_time(report->measure);
	char number[16];

	pprof->failed |= domain == FRAMES_NONE;
	if (pprof->failed)
		return;
	put_chain(pprof, stack);
	/* MEASURE_MOST us are less than 2^63 ns. */
	protobuf_number(&pprof->message, SAMPLE_VALUE, is_time ? count * 1000 : count);
	/* A number would be taken for an amount, and shown as a range. */
	snprintf(number, sizeof(number), "%u", vcpu);
	put_label(pprof, "vcpu", number);
	put_label(pprof, "domain", function_name(pprof, domain));
	end_message(pprof, PROFILE_SAMPLE);
}

static void put_line(struct pprof *pprof, uint32_t function)
{
	protobuf_number(&pprof->part, LINE_FUNCTION_ID,
			id_of(pprof, KIND_FUNCTION, function));
	end_part(pprof, LOCATION_LINE);
}

static void put_location(struct pprof *pprof, enum kind kind, uint32_t frame_number)
{
	const struct frame *frame = frames_get(pprof->report->frames, frame_number);
	uint64_t address = frame->address;
	uint32_t file = string_of(pprof, frame->dso ? frame->dso : "[unknown]");

	/* "A non-leaf address may be in the middle of a call instruction", and readers
	 * take it to be: that is where the name comes from, too. */
	if (kind == KIND_CALLER && address)
		address--;
	protobuf_number(&pprof->message, LOCATION_MAPPING_ID,
			id_of(pprof, KIND_MAPPING, file));
	protobuf_number(&pprof->message, LOCATION_ADDRESS, address);
	for (uint32_t i = 0; i < frame->function_count; i++)
		put_line(pprof, frames_function_at(pprof->report->frames, frame, i));
}

static void put_function(struct pprof *pprof, uint32_t function)
{
	uint32_t name = string_of(pprof, function_name(pprof, function));

	protobuf_number(&pprof->message, FUNCTION_NAME, name);
	/* The same: pprof makes C++ names readable then. */
	protobuf_number(&pprof->message, FUNCTION_SYSTEM_NAME, name);
}

static void put_mapping(struct pprof *pprof, uint32_t file)
{
	protobuf_number(&pprof->message, MAPPING_MEMORY_LIMIT, UINT64_MAX);
	protobuf_number(&pprof->message, MAPPING_FILENAME, file);
	protobuf_number(&pprof->message, MAPPING_HAS_FUNCTIONS, true);
}

/* Writes what the id stands for, which may need more ids. */
static void put_id(struct pprof *pprof, uint32_t id)
{
	const struct tree_node node = pprof->ids.nodes[id];
	uint32_t key = (uint32_t)node.key;

	switch (node.parent) {
	case KIND_LEAF:
	case KIND_CALLER:
		protobuf_number(&pprof->message, LOCATION_ID, id);
		put_location(pprof, node.parent, key);
		end_message(pprof, PROFILE_LOCATION);
		break;
	case KIND_BARE:
		protobuf_number(&pprof->message, LOCATION_ID, id);
		put_line(pprof, key);
		end_message(pprof, PROFILE_LOCATION);
		break;
	case KIND_FUNCTION:
		protobuf_number(&pprof->message, FUNCTION_ID, id);
		put_function(pprof, key);
		end_message(pprof, PROFILE_FUNCTION);
		break;
	case KIND_MAPPING:
		protobuf_number(&pprof->message, MAPPING_ID, id);
		put_mapping(pprof, key);
		end_message(pprof, PROFILE_MAPPING);
		break;
	}
}

static void put_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < names_count(pprof->strings); i++) {
		const char *text = names_get(pprof->strings, i);

		protobuf_bytes(&pprof->profile, PROFILE_STRING_TABLE, text, strlen(text));
		write_out(pprof);
	}
}

static int pprof_end(void *state)
{
	struct pprof *pprof = state;

	put_head(pprof);
	for (uint32_t i = 1; i < pprof->sampled.count && !pprof->failed; i++)
		put_sample(pprof, pprof->sampled.nodes[i].key, pprof->counts[i]);
	for (uint32_t id = KINDS; id < pprof->ids.count && !pprof->failed; id++)
		put_id(pprof, id);
	put_strings(pprof);
	gzip_end(pprof->gzip);
	return pprof->failed ? -1 : 0;
}

const struct output output_pprof = {
	.name = "pprof",
	.about = "a gzipped profile.proto, for go tool pprof",
	.begin = pprof_begin,
	.sample = pprof_sample,
	.end = pprof_end,
	.free = pprof_free,
};
