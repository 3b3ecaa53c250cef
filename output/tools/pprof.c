/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The format of pprof (go tool pprof, github.com/google/pprof), which Speedscope,
 * Pyroscope and Grafana read too: a gzipped Profile message. Messages, field numbers and
 * rules are from pprof's proto/profile.proto, and so are quotations.
 *
 * Samples of one vCPU and one chain are one Sample, as "the result has a list of values
 * that is the element-wise sum". There is one value: samples, or their time in ns. Labels
 * are vCPU, domain, name and pid of the process if they are known and told apart, and
 * host, if all recordings are of one host: otherwise the domains' names contain it. With
 * several domains, the outermost frame is the domain's name.
 *
 * A symbol file is a Mapping of all addresses: it is not known where the guest has mapped
 * it, and names are resolved already. For a mapping from 0 to the end, pprof looks
 * addresses up in the file unchanged (internal/elfexec/elfexec.go, GetBase()), and so can
 * disassemble.
 */
#include "output/histogram/histogram.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/text.h"
#include "base/tree.h"
#include "output/counts.h"
#include "output/write/gzip.h"
#include "output/write/protobuf.h"

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
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2
};
enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4
};

enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
};

enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
};

/* Objects with ids: the roots of the tree of ids, and the keys of their children. */
enum kind {
	KIND_LEAF,     /* a location: the number of a sampled frame */
	KIND_CALLER,   /* a location: the number of a caller's frame */
	KIND_BARE,     /* a location without address: the place's number */
	KIND_FUNCTION, /* function's number, and its source file's index in the string
			  table */
	KIND_MAPPING,  /* the file name's index in the string table */
	KINDS
};

struct pprof {
	const struct report *report;
	struct counts sampled; /* keys: chain and vCPU */
	struct tree ids;       /* ids are nodes' numbers */
	struct names *strings; /* the string table */
	struct gzip *gzip;
	struct buffer profile; /* the part not written yet */
	struct buffer message; /* a field of profile */
	struct buffer part;    /* a field of message */
	bool failed;	       /* out of memory */
};

static void pprof_free(void *state)
{
	struct pprof *pprof = state;

	if (!pprof)
		return;
	counts_free(&pprof->sampled);
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
	pprof->gzip = gzip_new(report->out, GZIP_USUAL);
	/* "string_table[0] must always be """. */
	if (counts_init(&pprof->sampled) < 0 || tree_init(&pprof->ids, KINDS) < 0 ||
	    !pprof->strings || !pprof->gzip || names_intern(pprof->strings, "") != 0) {
		pprof_free(pprof);
		return NULL;
	}
	return pprof;
}

static int pprof_sample(void *state, const struct counted_sample *sample)
{
	struct pprof *pprof = state;

	return counts_add(&pprof->sampled, (uint64_t)sample->stack << 32 | sample->vcpu,
			  sample->count);
}

static uint32_t id_of(struct pprof *pprof, enum kind kind, uint64_t key)
{
	uint32_t id = tree_intern(&pprof->ids, kind, key);

	pprof->failed |= id == TREE_NONE;
	return id;
}

/* Returns the text's index in the string table. */
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

/* Writes the contents of profile. */
static void write_out(struct pprof *pprof)
{
	pprof->failed |= pprof->profile.failed;
	gzip_put(pprof->gzip, pprof->profile.data, pprof->profile.size);
	buffer_reset(&pprof->profile);
}

/* Appends the message to profile and starts the next one. */
static void end_message(struct pprof *pprof, enum profile_field field)
{
	protobuf_part(&pprof->profile, field, &pprof->message);
	write_out(pprof);
}

/* Appends the part to the message and starts the next one. */
static void end_part(struct pprof *pprof, uint32_t field)
{
	protobuf_part(&pprof->message, field, &pprof->part);
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
		[MEASURE_WAIT] = "wait",
	};
	const struct summary *summary = pprof->report->summary;
	const struct recording_info *info = &summary->info;
	const struct measure *measure = pprof->report->measure;
	double rate = summary_rate(summary);

	put_value_type(pprof, PROFILE_SAMPLE_TYPE,
		       measure_is_event(measure) ? measure->event
						 : types[measure->weight],
		       measure_is_time(measure) ? "nanoseconds" : "count");
	put_value_type(pprof, PROFILE_PERIOD_TYPE, "wall", "nanoseconds");
	if (rate > 0)
		protobuf_number(&pprof->profile, PROFILE_PERIOD,
				(uint64_t)(1e9 / rate + 0.5));
	protobuf_number(&pprof->profile, PROFILE_TIME_NANOS, fit_int64(info->wall_start));
	protobuf_number(&pprof->profile, PROFILE_DURATION_NANOS,
			fit_int64(pprof->report->coverage->duration));
	write_out(pprof);
}

/* Adds a location's id to the part. */
static void add_location(struct pprof *pprof, enum kind kind, uint32_t key)
{
	pprof->failed |= key == FRAMES_NONE;
	buffer_put_varint(&pprof->part, id_of(pprof, kind, key));
}

/* Returns the place that represents a domain; FRAMES_NONE if out of memory. */
static uint32_t domain_place(struct frames *frames, uint32_t domain)
{
	uint32_t function = frames_domain(frames, domain);

	return function == FRAMES_NONE ? FRAMES_NONE : frames_place_of(frames, function);
}

/* Writes a chain's locations: "The leaf is at location_id[0]." */
static void put_chain(struct pprof *pprof, uint32_t stack)
{
	const struct report *report = pprof->report;
	const struct stacks *stacks = report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	uint32_t domain = stacks->domain[stack];
	enum frame_use use = FRAME_LEAF;

	if (!stacks_is_address(stacks, stack))
		add_location(pprof, KIND_BARE,
			     frames_place_of(report->frames, FRAMES_EMPTY_CHAIN));
	for (; stacks_is_address(stacks, stack); stack = nodes[stack].parent) {
		add_location(pprof, use == FRAME_LEAF ? KIND_LEAF : KIND_CALLER,
			     frames_find(report->frames, domain, nodes[stack].key, use));
		use = FRAME_CALLER;
	}
	if (report_shows_domains(report))
		add_location(pprof, KIND_BARE, domain_place(report->frames, domain));
	end_part(pprof, SAMPLE_LOCATION_ID);
}

static void put_label(struct pprof *pprof, const char *key, const char *value)
{
	protobuf_number(&pprof->part, LABEL_KEY, string_of(pprof, key));
	protobuf_number(&pprof->part, LABEL_STR, string_of(pprof, value));
	end_part(pprof, SAMPLE_LABEL);
}

/* Adds the host as a label, unless there are several: info.host is then empty. */
static void put_host(struct pprof *pprof)
{
	const struct recording_info *info = &pprof->report->summary->info;
	char host[sizeof(info->host)];

	text_clean(host, info->host);
	if (*host)
		put_label(pprof, "host", host);
}

/* Adds the names and numbers of a process and its thread as labels, if they are known. */
static void put_process(struct pprof *pprof, const struct recording_domain *domain)
{
	char comm[RECORDING_COMM], pid[24];

	if (domain && domain->process.tid) {
		text_clean(comm, domain->process.thread);
		snprintf(pid, sizeof(pid), "%" PRIu64, domain->process.tid);
		put_label(pprof, "thread", comm);
		put_label(pprof, "tid", pid);
	}

	if (!domain || !domain->process.pid)
		return;
	text_clean(comm, domain->process.comm);
	snprintf(pid, sizeof(pid), "%" PRIu32, domain->process.pid);
	put_label(pprof, "comm", comm);
	put_label(pprof, "pid", pid);
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
	if (report->measure->weight != MEASURE_WAIT) {
		/* A number would be treated as an amount, and shown as a range. */
		snprintf(number, sizeof(number), "%u", vcpu);
		put_label(pprof, "vcpu", number);
	}
	put_label(pprof, "domain", function_name(pprof, domain));
	put_process(pprof,
		    summary_domain(report->summary, report->stacks->domain[stack]));
	put_host(pprof);
	end_message(pprof, PROFILE_SAMPLE);
}

static void put_line(struct pprof *pprof, uint32_t number)
{
	struct frame_place place = frames_place(pprof->report->frames, number);
	uint64_t file = string_of(pprof, place.path);

	protobuf_number(&pprof->part, LINE_FUNCTION_ID,
			id_of(pprof, KIND_FUNCTION, file << 32 | place.function));
	protobuf_number(&pprof->part, LINE_LINE, place.line);
	end_part(pprof, LOCATION_LINE);
}

static void put_location(struct pprof *pprof, enum kind kind, uint32_t frame_number)
{
	const struct frame *frame = frames_get(pprof->report->frames, frame_number);
	uint64_t address = frame->address;
	uint32_t file = string_of(pprof, frame->dso ? frame->dso : "[unknown]");

	/* "A non-leaf address may be in the middle of a call instruction", as readers
	 * assume; names are looked up there, too. */
	if (kind == KIND_CALLER && address)
		address--;
	protobuf_number(&pprof->message, LOCATION_MAPPING_ID,
			id_of(pprof, KIND_MAPPING, file));
	protobuf_number(&pprof->message, LOCATION_ADDRESS, address);
	for (uint32_t i = 0; i < frame->function_count; i++)
		put_line(pprof, frames_place_at(pprof->report->frames, frame, i));
}

static void put_function(struct pprof *pprof, uint64_t key)
{
	uint32_t name = string_of(pprof, function_name(pprof, (uint32_t)key));

	protobuf_number(&pprof->message, FUNCTION_NAME, name);
	/* Equal to the name, so that pprof demangles C++ names. */
	protobuf_number(&pprof->message, FUNCTION_SYSTEM_NAME, name);
	protobuf_number(&pprof->message, FUNCTION_FILENAME, key >> 32);
}

/* Returns the index of the file's build-id in the string table; 0 if it has none. */
static uint32_t build_id_of(struct pprof *pprof, const struct symbols_file *file)
{
	char hex[SYMBOLS_BUILD_ID_TEXT] = "";

	if (file)
		symbols_build_id(file, hex);
	return string_of(pprof, hex);
}

static void put_mapping(struct pprof *pprof, uint32_t name)
{
	const struct sources *sources = pprof->report->sources;
	const struct symbols_file *file = sources_file(sources,
						       names_get(pprof->strings, name));
	bool has_lines = file && file->has_lines && sources->lines != SOURCE_LINES_NONE;

	protobuf_number(&pprof->message, MAPPING_MEMORY_LIMIT, UINT64_MAX);
	protobuf_number(&pprof->message, MAPPING_FILENAME, name);
	protobuf_number(&pprof->message, MAPPING_BUILD_ID, build_id_of(pprof, file));
	protobuf_number(&pprof->message, MAPPING_HAS_FUNCTIONS, true);
	protobuf_number(&pprof->message, MAPPING_HAS_FILENAMES, has_lines);
	protobuf_number(&pprof->message, MAPPING_HAS_LINE_NUMBERS, has_lines);
	protobuf_number(&pprof->message, MAPPING_HAS_INLINE_FRAMES,
			has_lines && sources->inlined);
}

/* Writes the object with this id, which may need more ids. */
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
		put_function(pprof, node.key);
		end_message(pprof, PROFILE_FUNCTION);
		break;
	case KIND_MAPPING:
		protobuf_number(&pprof->message, MAPPING_ID, id);
		put_mapping(pprof, key);
		end_message(pprof, PROFILE_MAPPING);
		break;
	}
}

/* Gives the first mapping's place to the program: readers name the profile by it. That is
 * the file with the most samples in its functions and their callees, but no name in
 * brackets, such as a kernel's. */
static void find_program(struct pprof *pprof)
{
	struct report report = *pprof->report;
	const struct histogram_row *rows;
	struct histogram *files;
	uint32_t count, i = 0;

	report.view = (struct report_view){.rows = REPORT_ROWS_FILES,
					   .sort = REPORT_SORT_TOTAL};
	files = histogram_begin(&report);
	pprof->failed |= !files || histogram_finish(files) < 0;
	if (!pprof->failed) {
		count = histogram_rows(files, &rows);
		while (i < count && *rows[i].file == '[')
			i++;
		if (i < count)
			id_of(pprof, KIND_MAPPING, string_of(pprof, rows[i].file));
	}
	histogram_free(files);
}

static void put_strings(struct pprof *pprof)
{
	for (uint32_t i = 0; i < names_count(pprof->strings); i++) {
		protobuf_text(&pprof->profile, PROFILE_STRING_TABLE,
			      names_get(pprof->strings, i));
		write_out(pprof);
	}
}

/* Waits are of no vCPU. */
static void put_waits(struct pprof *pprof)
{
	const struct stacks *stacks = pprof->report->stacks;

	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && !pprof->failed; i++)
		if (stacks->self[i])
			put_sample(pprof, (uint64_t)i << 32, stacks->self[i]);
}

static int pprof_end(void *state)
{
	struct pprof *pprof = state;

	put_head(pprof);
	find_program(pprof);
	if (pprof->report->measure->weight == MEASURE_WAIT)
		put_waits(pprof);
	for (uint32_t i = 1; i < pprof->sampled.keys.count && !pprof->failed; i++)
		put_sample(pprof, pprof->sampled.keys.nodes[i].key,
			   pprof->sampled.sums[i]);
	for (uint32_t id = KINDS; id < pprof->ids.count && !pprof->failed; id++)
		put_id(pprof, id);
	put_strings(pprof);
	gzip_end(pprof->gzip);
	return pprof->failed ? -1 : 0;
}

const struct output output_pprof = {
	.name = "pprof",
	.about = "a gzipped profile.proto, for go tool pprof",
	.is_binary = true,
	.counts_waits = true,
	.lines = OUTPUT_LINES_APART,
	.begin = pprof_begin,
	.sample = pprof_sample,
	.end = pprof_end,
	.free = pprof_free,
};
