/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Profiles of OpenTelemetry (github.com/open-telemetry/opentelemetry-proto, version
 * 1.10.0, profiles/v1development; not stable yet): an ExportProfilesServiceRequest, as it
 * is sent to a collector over HTTP. Messages, field numbers and rules are from its .proto
 * files, and so are quotations.
 *
 * A domain is a resource, called service.name, with one profile. Its samples of one
 * chain, vCPU and state are one Sample with one value: samples, or their time in ns.
 * Mappings are all addresses of a symbol file, as in pprof (pprof.c).
 */
#include "output/output.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/names.h"
#include "base/text.h"
#include "base/tree.h"
#include "base/version.h"
#include "output/counts.h"
#include "report/model/domains.h"
#include "output/write/protobuf.h"

/* The fields of each message that are used. */
enum request_field {
	REQUEST_RESOURCE_PROFILES = 1,
	REQUEST_DICTIONARY = 2
};
enum resource_profiles_field {
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2
};
enum resource_field {
	RESOURCE_ATTRIBUTES = 1
};
enum key_value_field {
	KEY_VALUE_KEY = 1,
	KEY_VALUE_VALUE = 2
};
enum any_value_field {
	ANY_VALUE_STRING = 1,
	ANY_VALUE_INT = 3
};
enum scope_profiles_field {
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2
};
enum scope_field {
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2
};

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME_UNIX_NANO = 3,
	PROFILE_DURATION_NANO = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
};

enum value_type_field {
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2
};
enum sample_field {
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4
};

enum dictionary_field {
	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS = 2,
	DICTIONARY_FUNCTIONS = 3,
	DICTIONARY_LINKS = 4,
	DICTIONARY_STRINGS = 5,
	DICTIONARY_ATTRIBUTES = 6,
	DICTIONARY_STACKS = 7,
};

enum stack_field {
	STACK_LOCATIONS = 1
};
enum location_field {
	LOCATION_MAPPING = 1,
	LOCATION_ADDRESS = 2,
	LOCATION_LINES = 3
};
enum line_field {
	LINE_FUNCTION = 1,
	LINE_LINE = 2
};
enum function_field {
	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILENAME = 3
};
enum mapping_field {
	MAPPING_MEMORY_LIMIT = 2,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTES = 5
};
enum attribute_field {
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2
};
enum link_field {
	LINK_TRACE_ID = 1,
	LINK_SPAN_ID = 2
};

/* The kind of a location or an attribute, in the upper half of its key. */
enum location_kind {
	LOCATION_OF_LEAF,   /* a sampled frame's number */
	LOCATION_OF_CALLER, /* a caller's frame's number */
	LOCATION_BARE,	    /* without address: the place's number */
};
enum attribute_kind {
	ATTRIBUTE_VCPU,	    /* its number */
	ATTRIBUTE_STATE,    /* enum vcpu_state */
	ATTRIBUTE_BUILD_ID, /* index in the string table */
	ATTRIBUTE_TID,	    /* of a guest's thread, if they are told apart */
	ATTRIBUTE_THREAD    /* its name: index in the string table */
};

struct otlp {
	const struct report *report;
	struct counts sampled; /* keys: chain << 32 | state << 16 | vCPU */
	/*
	 * The dictionary's tables, each as a tree whose nodes are the indexes: "The
	 * element at index 0 MUST be the zero value", and is the only root.
	 */
	struct tree stacks;	/* keys: chain */
	struct tree locations;	/* keys: kind and number */
	struct tree functions;	/* keys: source file in the string table, and function */
	struct tree mappings;	/* keys: file name in the string table */
	struct tree attributes; /* keys: kind and value */
	struct names *strings;

	struct buffer dictionary, message, part, value;
	bool failed; /* out of memory */
};

static void otlp_free(void *state)
{
	struct otlp *otlp = state;

	if (!otlp)
		return;
	counts_free(&otlp->sampled);
	tree_free(&otlp->stacks);
	tree_free(&otlp->locations);
	tree_free(&otlp->functions);
	tree_free(&otlp->mappings);
	tree_free(&otlp->attributes);
	if (otlp->strings)
		names_free(otlp->strings);
	buffer_free(&otlp->dictionary);
	buffer_free(&otlp->message);
	buffer_free(&otlp->part);
	buffer_free(&otlp->value);
	free(otlp);
}

static void *otlp_begin(const struct report *report)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));

	if (!otlp)
		return NULL;
	otlp->report = report;
	otlp->strings = names_new();
	if (counts_init(&otlp->sampled) == 0 && tree_init(&otlp->stacks, 1) == 0 &&
	    tree_init(&otlp->locations, 1) == 0 && tree_init(&otlp->functions, 1) == 0 &&
	    tree_init(&otlp->mappings, 1) == 0 && tree_init(&otlp->attributes, 1) == 0 &&
	    otlp->strings && names_intern(otlp->strings, "") == 0)
		return otlp;
	otlp_free(otlp);
	return NULL;
}

static int otlp_sample(void *state, const struct counted_sample *sample)
{
	struct otlp *otlp = state;
	uint64_t vcpu_state = sample->state < SUMMARY_STATES ? sample->state
							     : VCPU_UNKNOWN;

	/* vCPUs are at most RECORDING_MAX_VCPU. */
	return counts_add(&otlp->sampled,
			  (uint64_t)sample->stack << 32 | vcpu_state << 16 | sample->vcpu,
			  sample->count);
}

/* Returns the index of the item with this key in a table. */
static uint32_t index_of(struct otlp *otlp, struct tree *table, uint64_t key)
{
	uint32_t index = tree_intern(table, 0, key);

	otlp->failed |= index == TREE_NONE;
	return index;
}

static uint32_t string_of(struct otlp *otlp, const char *text)
{
	uint32_t string = names_intern(otlp->strings, text);

	otlp->failed |= string == NAMES_NONE;
	return string;
}

static uint32_t attribute_of(struct otlp *otlp, enum attribute_kind kind, uint32_t value)
{
	return index_of(otlp, &otlp->attributes, (uint64_t)kind << 32 | value);
}

static void put_value_type(struct otlp *otlp, struct buffer *profile, uint32_t field,
			   const char *type, const char *unit)
{
	protobuf_number(&otlp->part, VALUE_TYPE_TYPE, string_of(otlp, type));
	protobuf_number(&otlp->part, VALUE_TYPE_UNIT, string_of(otlp, unit));
	protobuf_part(profile, field, &otlp->part);
}

/* Appends an attribute of a resource, whose value is the text or, without one, a number.
 */
static void put_attribute(struct otlp *otlp, struct buffer *resource, const char *key,
			  const char *text, uint64_t number)
{
	if (text)
		protobuf_text(&otlp->value, ANY_VALUE_STRING, text);
	else
		protobuf_member(&otlp->value, ANY_VALUE_INT, number);
	protobuf_text(&otlp->part, KEY_VALUE_KEY, key);
	protobuf_part(&otlp->part, KEY_VALUE_VALUE, &otlp->value);
	protobuf_part(resource, RESOURCE_ATTRIBUTES, &otlp->part);
}

/* Appends the resource: the domain with this index, and its process if it is one. */
static void put_resource(struct otlp *otlp, struct buffer *resource, uint32_t function,
			 uint32_t index)
{
	const struct report *report = otlp->report;
	const struct recording_info *info = &report->summary->info;
	const struct recording_domain *domain = summary_domain(report->summary, index);
	char text[sizeof(info->host)];

	put_attribute(otlp, resource, "service.name",
		      frames_function_name(report->frames, function), 0);
	text_clean(text, info->host);
	if (*text)
		put_attribute(otlp, resource, "host.name", text, 0);
	if (!domain || !domain->process.pid)
		return;
	put_attribute(otlp, resource, "process.pid", NULL, domain->process.pid);
	text_clean(text, domain->process.comm);
	put_attribute(otlp, resource, "process.executable.name", text, 0);
}

/* Appends the attributes of the guest's thread that ran, if that is told apart. */
static void put_thread(struct otlp *otlp, uint32_t domain)
{
	const struct recording_domain *of = summary_domain(otlp->report->summary, domain);
	char text[RECORDING_COMM];

	if (!of || !of->process.tid || of->process.tid > UINT32_MAX)
		return;
	text_clean(text, of->process.thread);
	buffer_put_varint(&otlp->part,
			  attribute_of(otlp, ATTRIBUTE_TID, (uint32_t)of->process.tid));
	buffer_put_varint(&otlp->part,
			  attribute_of(otlp, ATTRIBUTE_THREAD, string_of(otlp, text)));
}

static void put_sample(struct otlp *otlp, struct buffer *profile, uint32_t node)
{
	uint64_t key = otlp->sampled.keys.nodes[node].key;
	uint64_t count = otlp->sampled.sums[node];
	uint32_t vcpu_state = key >> 16 & 0xffff, vcpu = key & 0xffff;

	protobuf_number(&otlp->message, SAMPLE_STACK,
			index_of(otlp, &otlp->stacks, key >> 32));
	buffer_put_varint(&otlp->part, attribute_of(otlp, ATTRIBUTE_VCPU, vcpu));
	if (vcpu_state != VCPU_UNKNOWN)
		buffer_put_varint(&otlp->part,
				  attribute_of(otlp, ATTRIBUTE_STATE, vcpu_state));
	put_thread(otlp, otlp->report->stacks->domain[key >> 32]);
	protobuf_part(&otlp->message, SAMPLE_ATTRIBUTES, &otlp->part);
	/* MEASURE_MOST us are less than 2^63 ns. */
	buffer_put_varint(&otlp->part,
			  measure_is_time(otlp->report->measure) ? count * 1000 : count);
	protobuf_part(&otlp->message, SAMPLE_VALUES, &otlp->part);
	protobuf_part(profile, PROFILE_SAMPLES, &otlp->message);
}

/* Appends what all samples of a profile share. */
static void put_head(struct otlp *otlp, struct buffer *profile)
{
	static const char *const types[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "cpu",
		[MEASURE_WALL] = "wall",
		[MEASURE_WAIT] = "wait",
	};
	const struct report *report = otlp->report;
	const struct measure *measure = report->measure;
	double rate = summary_rate(report->summary);

	put_value_type(otlp, profile, PROFILE_SAMPLE_TYPE,
		       measure_is_event(measure) ? measure->event
						 : types[measure->weight],
		       measure_is_time(measure) ? "nanoseconds" : "count");
	protobuf_fixed64(profile, PROFILE_TIME_UNIX_NANO,
			 report->summary->info.wall_start);
	protobuf_number(profile, PROFILE_DURATION_NANO, report->coverage->duration);
	put_value_type(otlp, profile, PROFILE_PERIOD_TYPE, "wall", "nanoseconds");
	if (rate > 0)
		protobuf_number(profile, PROFILE_PERIOD, (uint64_t)(1e9 / rate + 0.5));
}

/* A node of the sampled chains, and the function that represents its domain. */
struct member {
	uint32_t domain, node;
};

static int compare_members(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

static uint32_t domain_of(const struct otlp *otlp, uint32_t node)
{
	uint64_t key = otlp->sampled.keys.nodes[node].key;

	return otlp->report->stacks->domain[key >> 32];
}

/* Writes the resource of @count members, which are of domains with one name. */
static void put_resource_profiles(struct otlp *otlp, const struct member *members,
				  size_t count)
{
	struct buffer request = {0}, resource = {0}, scope = {0}, profile = {0};

	put_resource(otlp, &resource, members->domain, domain_of(otlp, members->node));
	put_head(otlp, &profile);
	for (size_t i = 0; i < count; i++)
		put_sample(otlp, &profile, members[i].node);
	protobuf_text(&otlp->part, SCOPE_NAME, "uniprof");
	protobuf_text(&otlp->part, SCOPE_VERSION, UNIPROF_VERSION);
	protobuf_part(&scope, SCOPE_PROFILES_SCOPE, &otlp->part);
	protobuf_part(&scope, SCOPE_PROFILES_PROFILES, &profile);
	protobuf_part(&otlp->message, RESOURCE_PROFILES_RESOURCE, &resource);
	protobuf_part(&otlp->message, RESOURCE_PROFILES_SCOPE_PROFILES, &scope);
	protobuf_part(&request, REQUEST_RESOURCE_PROFILES, &otlp->message);
	otlp->failed |= request.failed;
	if (!otlp->failed)
		fwrite(request.data, 1, request.size, otlp->report->out);
	buffer_free(&request);
	buffer_free(&resource);
	buffer_free(&scope);
	buffer_free(&profile);
}

static int put_resources(struct otlp *otlp)
{
	uint32_t count = otlp->sampled.keys.count - 1, length;
	struct member *members = calloc(count + 1, sizeof(*members));

	if (!members)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		members[i].node = i + 1;
		members[i].domain = frames_domain(otlp->report->frames,
						  domain_of(otlp, i + 1));
		otlp->failed |= members[i].domain == FRAMES_NONE;
	}
	qsort(members, count, sizeof(*members), compare_members);
	for (uint32_t i = 0; i < count && !otlp->failed; i += length) {
		for (length = 1; i + length < count; length++)
			if (members[i + length].domain != members[i].domain)
				break;
		put_resource_profiles(otlp, members + i, length);
	}
	free(members);
	return otlp->failed ? -1 : 0;
}

static void add_location(struct otlp *otlp, enum location_kind kind, uint32_t number)
{
	otlp->failed |= number == FRAMES_NONE;
	buffer_put_varint(&otlp->part, index_of(otlp, &otlp->locations,
						(uint64_t)kind << 32 | number));
}

/* "The first location is the leaf frame." */
static void put_stack(struct otlp *otlp, uint64_t chain)
{
	struct frames *frames = otlp->report->frames;
	const struct stacks *stacks = otlp->report->stacks;
	const struct tree_node *nodes = stacks->tree.nodes;
	uint32_t stack = (uint32_t)chain, domain = stacks->domain[stack];
	enum frame_use use = FRAME_LEAF;

	if (!stacks_is_address(stacks, stack))
		add_location(otlp, LOCATION_BARE,
			     frames_place_of(frames, FRAMES_EMPTY_CHAIN));
	for (; stacks_is_address(stacks, stack); stack = nodes[stack].parent) {
		add_location(otlp,
			     use == FRAME_LEAF ? LOCATION_OF_LEAF : LOCATION_OF_CALLER,
			     frames_find(frames, domain, nodes[stack].key, use));
		use = FRAME_CALLER;
	}
	protobuf_part(&otlp->message, STACK_LOCATIONS, &otlp->part);
}

static void put_line(struct otlp *otlp, uint32_t number)
{
	struct frame_place place = frames_place(otlp->report->frames, number);
	uint64_t file = string_of(otlp, place.path);

	protobuf_number(&otlp->part, LINE_FUNCTION,
			index_of(otlp, &otlp->functions, file << 32 | place.function));
	protobuf_number(&otlp->part, LINE_LINE, place.line);
	protobuf_part(&otlp->message, LOCATION_LINES, &otlp->part);
}

static void put_location(struct otlp *otlp, uint64_t key)
{
	struct frames *frames = otlp->report->frames;
	const struct frame *frame;
	uint32_t number = (uint32_t)key;

	if (key >> 32 == LOCATION_BARE) {
		put_line(otlp, number);
		return;
	}
	frame = frames_get(frames, number);
	if (frame->dso && *frame->dso)
		protobuf_number(
			&otlp->message, LOCATION_MAPPING,
			index_of(otlp, &otlp->mappings, string_of(otlp, frame->dso)));
	/* "A non-leaf address may be in the middle of a call instruction": names are
	 * looked up there, too. */
	protobuf_number(&otlp->message, LOCATION_ADDRESS,
			key >> 32 == LOCATION_OF_CALLER && frame->address
				? frame->address - 1
				: frame->address);
	for (uint32_t i = 0; i < frame->function_count; i++)
		put_line(otlp, frames_place_at(frames, frame, i));
}

static void put_function(struct otlp *otlp, uint64_t key)
{
	uint32_t name = string_of(
		otlp, frames_function_name(otlp->report->frames, (uint32_t)key));

	protobuf_number(&otlp->message, FUNCTION_NAME, name);
	protobuf_number(&otlp->message, FUNCTION_SYSTEM_NAME, name);
	protobuf_number(&otlp->message, FUNCTION_FILENAME, key >> 32);
}

static void put_mapping(struct otlp *otlp, uint64_t name)
{
	const struct symbols_file *file;
	char build_id[SYMBOLS_BUILD_ID_TEXT] = "";

	file = sources_file(otlp->report->sources,
			    names_get(otlp->strings, (uint32_t)name));
	if (file)
		symbols_build_id(file, build_id);
	protobuf_number(&otlp->message, MAPPING_MEMORY_LIMIT, UINT64_MAX);
	protobuf_number(&otlp->message, MAPPING_FILENAME, name);
	if (!*build_id)
		return;
	buffer_put_varint(&otlp->part, attribute_of(otlp, ATTRIBUTE_BUILD_ID,
						    string_of(otlp, build_id)));
	protobuf_part(&otlp->message, MAPPING_ATTRIBUTES, &otlp->part);
}

static void put_attribute_item(struct otlp *otlp, uint64_t key)
{
	static const char *const keys[] = {
		[ATTRIBUTE_VCPU] = "vcpu",
		[ATTRIBUTE_STATE] = "vcpu.state",
		[ATTRIBUTE_BUILD_ID] = "process.executable.build_id.gnu",
		[ATTRIBUTE_TID] = "thread.id",
		[ATTRIBUTE_THREAD] = "thread.name",
	};
	uint32_t value = (uint32_t)key;

	protobuf_number(&otlp->message, ATTRIBUTE_KEY, string_of(otlp, keys[key >> 32]));
	switch (key >> 32) {
	case ATTRIBUTE_VCPU:
	case ATTRIBUTE_TID:
		protobuf_member(&otlp->value, ANY_VALUE_INT, value);
		break;
	case ATTRIBUTE_STATE:
		protobuf_text(&otlp->value, ANY_VALUE_STRING, vcpu_state_name(value));
		break;
	case ATTRIBUTE_BUILD_ID:
	case ATTRIBUTE_THREAD:
		protobuf_text(&otlp->value, ANY_VALUE_STRING,
			      names_get(otlp->strings, value));
		break;
	}
	protobuf_part(&otlp->message, ATTRIBUTE_VALUE, &otlp->value);
}

/* Appends a table to the dictionary. @put writes an item, and may add to other tables. */
static void put_table(struct otlp *otlp, enum dictionary_field field,
		      const struct tree *table,
		      void (*put)(struct otlp *otlp, uint64_t key))
{
	protobuf_part(&otlp->dictionary, field, &otlp->message);
	for (uint32_t i = 1; i < table->count && !otlp->failed; i++) {
		put(otlp, table->nodes[i].key);
		protobuf_part(&otlp->dictionary, field, &otlp->message);
	}
}

static int put_dictionary(struct otlp *otlp)
{
	static const uint8_t zeros[16];
	struct buffer *head = &otlp->message;

	/* Each table only adds to those after it. */
	put_table(otlp, DICTIONARY_STACKS, &otlp->stacks, put_stack);
	put_table(otlp, DICTIONARY_LOCATIONS, &otlp->locations, put_location);
	put_table(otlp, DICTIONARY_FUNCTIONS, &otlp->functions, put_function);
	put_table(otlp, DICTIONARY_MAPPINGS, &otlp->mappings, put_mapping);
	put_table(otlp, DICTIONARY_ATTRIBUTES, &otlp->attributes, put_attribute_item);
	/* "The latter SHOULD be used for link_table[0]" */
	protobuf_bytes(&otlp->message, LINK_TRACE_ID, zeros, 16);
	protobuf_bytes(&otlp->message, LINK_SPAN_ID, zeros, 8);
	protobuf_part(&otlp->dictionary, DICTIONARY_LINKS, &otlp->message);
	for (uint32_t i = 0; i < names_count(otlp->strings); i++)
		protobuf_text(&otlp->dictionary, DICTIONARY_STRINGS,
			      names_get(otlp->strings, i));
	/* Only the head: the dictionary may be large, and is not copied. */
	protobuf_start(head, REQUEST_DICTIONARY, otlp->dictionary.size);
	otlp->failed |= otlp->dictionary.failed || head->failed;
	if (otlp->failed)
		return -1;
	fwrite(head->data, 1, head->size, otlp->report->out);
	fwrite(otlp->dictionary.data, 1, otlp->dictionary.size, otlp->report->out);
	return 0;
}

static int otlp_end(void *state)
{
	struct otlp *otlp = state;

	if (put_resources(otlp) < 0)
		return -1;
	return put_dictionary(otlp);
}

const struct output output_otlp = {
	.name = "otlp",
	.about = "profiles of OpenTelemetry, for collectors",
	.is_binary = true,
	.lines = OUTPUT_LINES_APART,
	.begin = otlp_begin,
	.sample = otlp_sample,
	.end = otlp_end,
	.free = otlp_free,
};
