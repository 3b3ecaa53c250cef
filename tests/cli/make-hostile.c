/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes recordings that take as much time and memory per byte as possible:
 *
 *   make-hostile SHAPE BYTES FILLER   a recording of the shape, of at most BYTES, the
 *                                     first FILLER of which are meaningless
 *   make-hostile                      lists the shapes
 *
 * Recordings contain as much as their size allows (format/sums.h), and no more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/clock.h"
#include "format/chunk.h"
#include "format/name_list.h"
#include "format/samples.h"
#include "format/sums.h"
#include "format/waits.h"

#define MOST_SAMPLES RECORDING_MAX_SAMPLES
#define MOST_NODES   RECORDING_MAX_NODES
#define LONG_NAMES   250 /* fit in a chunk */
#define SPACES	     4096

static void *check_memory(void *memory)
{
	if (memory)
		return memory;
	fprintf(stderr, "make-hostile: out of memory\n");
	exit(1);
}

/* Puts a column of @count equal bytes, except that the first one is @first. */
static void put_bytes(struct buffer *payload, unsigned int tag, uint8_t first,
		      uint8_t byte, size_t count)
{
	uint8_t *at;

	buffer_put_varint(payload, tag);
	buffer_put_varint(payload, count);
	at = check_memory(buffer_extend(payload, count));
	memset(at, byte, count);
	*at = first;
}

/* Puts a column of @count numbers that count from 0 to @modulus - 1 repeatedly, each
 * number
 * @each times. */
static void put_series(struct buffer *payload, unsigned int tag, size_t count,
		       size_t each, size_t modulus)
{
	struct buffer column = {0};

	for (size_t i = 0; i < count; i++)
		buffer_put_varint(&column, i / each % modulus);
	field_put(payload, tag, column.data, column.size);
	buffer_free(&column);
}

/* Puts samples 1 ns apart, with chain 0. */
static void put_samples(struct buffer *payload, size_t count)
{
	field_put_number(payload, SAMPLES_COUNT, count);
	put_bytes(payload, SAMPLES_TIME, 2, 2, count);
	put_bytes(payload, SAMPLES_STACK, 0, 0, count);
}

/* Puts chains of one address each, 8 bytes apart from @address on. */
static void put_flat_chains(struct buffer *payload, size_t count, uint64_t address)
{
	const uint8_t low[2] = {(uint8_t)address, (uint8_t)(address >> 8)};
	struct buffer call = {0};

	field_put_number(payload, SAMPLES_NODES, count);
	put_bytes(payload, SAMPLES_DROP, 0, 1, count);
	put_bytes(payload, SAMPLES_GROWTH, 2, 0, count);
	put_bytes(payload, SAMPLES_NEAR, 16, 16, count - 1);
	buffer_put_signed(&call, (int64_t)(address >> 16));
	field_put(payload, SAMPLES_CALL, call.data, call.size);
	field_put(payload, SAMPLES_CALL_LOW, low, sizeof(low));
	buffer_free(&call);
}

static void put_one_chain(struct buffer *payload)
{
	put_flat_chains(payload, 1, 0x1000);
}

/* The maximum number of identical samples. */
static unsigned int shape_samples(struct buffer *payload, uint32_t number)
{
	(void)number;
	put_samples(payload, MOST_SAMPLES);
	put_one_chain(payload);
	return CHUNK_SAMPLES;
}

/* Each sample has the maximum weight and CPU time. */
static unsigned int shape_weights(struct buffer *payload, uint32_t number)
{
	(void)number;
	put_samples(payload, MOST_SAMPLES);
	put_one_chain(payload);

	buffer_put_varint(payload, SAMPLES_WEIGHT);
	buffer_put_varint(payload, MOST_SAMPLES * 5);
	for (size_t i = 0; i < MOST_SAMPLES; i++)
		buffer_put_varint(payload, RECORDING_MAX_WEIGHT);
	put_bytes(payload, SAMPLES_STATE, 1, 1, MOST_SAMPLES);
	field_put_number(payload, SAMPLES_CPU_TIME_UNIT, RECORDING_MAX_CPU_TIME);
	put_bytes(payload, SAMPLES_CPU_TIME, 2, 2, MOST_SAMPLES);
	return CHUNK_SAMPLES;
}

/* Each sample has a different address, also across chunks. */
static unsigned int shape_nodes(struct buffer *payload, uint32_t number)
{
	field_put_number(payload, SAMPLES_COUNT, MOST_SAMPLES);
	put_bytes(payload, SAMPLES_TIME, 2, 2, MOST_SAMPLES);
	put_series(payload, SAMPLES_STACK, MOST_SAMPLES, 1, STACK_LOW);
	put_series(payload, SAMPLES_STACK_HIGH, MOST_SAMPLES, STACK_LOW, SIZE_MAX);
	put_flat_chains(payload, MOST_NODES, (uint64_t)number << 22);
	return CHUNK_SAMPLES;
}

/* Each sample has a different address; every chunk has equal addresses. */
static unsigned int shape_same_nodes(struct buffer *payload, uint32_t number)
{
	(void)number;
	return shape_nodes(payload, 1);
}

/* Chains of the maximum depth, each with an outermost caller of its own. The other
 * callers are @addresses addresses in turn. */
static unsigned int deep_chains(struct buffer *payload, uint32_t number,
				uint32_t addresses)
{
	static uint64_t address[RECORDING_MAX_DEPTH];
	struct samples_encoder *encoder = check_memory(samples_encoder_new());
	const struct sampling_counts none = {0};

	for (uint32_t i = 0; i < MOST_NODES / RECORDING_MAX_DEPTH; i++) {
		struct sample sample = {.weight = 1, .time = i * 1000};

		for (uint32_t j = 0; j < RECORDING_MAX_DEPTH; j++)
			address[j] = 0x100000 + j % addresses * 8;
		address[RECORDING_MAX_DEPTH - 1] += 8 * (i + number % 64 * 1024);
		sample.chain = (struct chain){.address = address,
					      .count = RECORDING_MAX_DEPTH};
		samples_encoder_add(encoder, &sample);
	}
	samples_encoder_finish(encoder, &none, payload);
	samples_encoder_free(encoder);
	return CHUNK_SAMPLES;
}

static unsigned int shape_deep(struct buffer *payload, uint32_t number)
{
	return deep_chains(payload, number, RECORDING_MAX_DEPTH);
}

/* The maximum number of samples, all with one chain of the maximum depth. */
static unsigned int shape_deep_samples(struct buffer *payload, uint32_t number)
{
	(void)number;
	put_samples(payload, MOST_SAMPLES);
	field_put_number(payload, SAMPLES_NODES, RECORDING_MAX_DEPTH);
	put_bytes(payload, SAMPLES_DROP, 0, 0, 1);
	buffer_put_varint(payload, SAMPLES_GROWTH);
	buffer_put_varint(payload, 2);
	buffer_put_signed(payload, RECORDING_MAX_DEPTH);
	/* An address that calls itself repeatedly, so that each callee is known. */
	put_bytes(payload, SAMPLES_KNOWN, 1, 1, RECORDING_MAX_DEPTH);
	put_bytes(payload, SAMPLES_CALL, 0, 0, 2);
	put_bytes(payload, SAMPLES_CALL_LOW, 0, 0, 4);
	return CHUNK_SAMPLES;
}

/* Each sample is of a different vCPU. */
static unsigned int shape_vcpus(struct buffer *payload, uint32_t number)
{
	put_samples(payload, MOST_SAMPLES);
	put_one_chain(payload);
	put_series(payload, SAMPLES_VCPU, MOST_SAMPLES, 1, 4096);
	buffer_put_varint(payload, SAMPLES_DOMAIN);
	buffer_put_varint(payload, MOST_SAMPLES * 3);
	for (size_t i = 0; i < MOST_SAMPLES; i++) {
		uint64_t domain = (number * 64 + i / 4096) % (RECORDING_MAX_DOMAIN + 1);
		const uint8_t padded[3] = {(uint8_t)(domain | 0x80),
					   (uint8_t)(domain >> 7 | 0x80),
					   (uint8_t)(domain >> 14)};

		buffer_put(payload, padded, sizeof(padded));
	}
	return CHUNK_SAMPLES;
}

/* Each sample has a different address, and the vCPUs alternate: a table of both needs
 * every cell. */
static unsigned int shape_vcpus_and_nodes(struct buffer *payload, uint32_t number)
{
	shape_nodes(payload, number);
	put_series(payload, SAMPLES_VCPU, MOST_SAMPLES, 1, RECORDING_MAX_VCPU);
	return CHUNK_SAMPLES;
}

/* A different domain in every chunk, with a long name. */
static unsigned int shape_domains(struct buffer *payload, uint32_t number)
{
	struct recording_domain domain = {.index = number, .id = 1, .vcpus = UINT64_MAX};

	memset(domain.name, 'd', 8);
	snprintf(domain.name + 4, sizeof(domain.name) - 4, "%" PRIu32, number);
	domain_encode(payload, &domain);
	return CHUNK_DOMAIN;
}

/* Thousands of address spaces of a known domain, different in every chunk. */
static unsigned int shape_spaces(struct buffer *payload, uint32_t number)
{
	struct buffer column = {0};

	if (!number)
		return shape_domains(payload, number);
	put_samples(payload, MOST_SAMPLES);
	put_one_chain(payload);
	for (uint64_t i = 0; i < SPACES; i++)
		buffer_put_varint(&column, (uint64_t)number * SPACES + i + 1);
	field_put(payload, SAMPLES_SPACES, column.data, column.size);
	put_series(payload, SAMPLES_SPACE, MOST_SAMPLES, 1, SPACES);
	buffer_free(&column);
	return CHUNK_SAMPLES;
}

/* Waits of thousands of threads, different in every chunk, which never end. */
static unsigned int shape_waits(struct buffer *payload, uint32_t number)
{
	struct buffer column = {0};

	shape_spaces(payload, number);
	if (!number)
		return CHUNK_DOMAIN;
	for (uint64_t i = 0; i < SPACES; i++)
		buffer_put_varint(&column, (uint64_t)number * SPACES + i + 1);
	field_put(payload, SAMPLES_TID, column.data, column.size);
	put_bytes(payload, WAITS_LENGTH, 0, 0, MOST_SAMPLES);
	field_put_number(payload, WAITS_UNTIL, NS_PER_S * 1000);
	field_put_number(payload, WAITS_PERIOD, NS_PER_S / 10);
	field_put_number(payload, WAITS_ROUNDS, 1);
	buffer_free(&column);
	return CHUNK_WAITS;
}

static unsigned int shape_infos(struct buffer *payload, uint32_t number)
{
	field_put_number(payload, 1, RECORDING_VERSION);
	field_put_number(payload, 7, number);
	return CHUNK_INFO;
}

/* Empty chunks. */
static unsigned int shape_empty(struct buffer *payload, uint32_t number)
{
	(void)payload;
	(void)number;
	return CHUNK_SAMPLES;
}

/* Chunks of an unknown type and maximum size. */
static unsigned int shape_unknown(struct buffer *payload, uint32_t number)
{
	(void)number;
	memset(check_memory(buffer_extend(payload, RECORDING_MAX_PAYLOAD)), 0,
	       RECORDING_MAX_PAYLOAD);
	return 77;
}

/* The maximum number of fields, with an unknown tag. */
static unsigned int shape_fields(struct buffer *payload, uint32_t number)
{
	(void)number;
	for (size_t i = 0; i < RECORDING_MAX_PAYLOAD / 2; i++)
		field_put(payload, 99, NULL, 0);
	return CHUNK_SAMPLES;
}

/* The maximum number of short names. */
static unsigned int shape_names(struct buffer *payload, uint32_t number)
{
	struct name_list list = {0};
	char text[16];

	for (uint32_t i = 0; i < 50000; i++) {
		int length = snprintf(text, sizeof(text), "%" PRIx32, i);
		struct recording_name name = {
			.address = ((uint64_t)number << 32) + i * 8,
			.name = {text, (size_t)length},
		};

		name_list_add(&list, &name);
	}
	name_list_finish(&list, payload);
	name_list_free(&list);
	return CHUNK_NAMES;
}

/* The longest names, and then chains of the functions that have them. */
static unsigned int shape_long_names(struct buffer *payload, uint32_t number)
{
	static char text[RECORDING_MAX_NAME];
	struct name_list list = {0};

	if (number)
		return deep_chains(payload, 0, LONG_NAMES);
	memset(text, 'n', sizeof(text));
	for (uint32_t i = 0; i < LONG_NAMES; i++) {
		struct recording_name name = {
			.address = 0x100000 + i * 8 - 1,
			.name = {text, sizeof(text)},
		};

		snprintf(text, 8, "%07" PRIu32, i);
		text[7] = 'n';
		name_list_add(&list, &name);
	}
	name_list_finish(&list, payload);
	name_list_free(&list);
	return CHUNK_NAMES;
}

/* Symbols, each with the maximum number of lines of functions with long names; and then
 * chains of these functions. */
static unsigned int shape_lines(struct buffer *payload, uint32_t number)
{
	static char text[RECORDING_MAX_LINES][40];
	struct recording_line line[RECORDING_MAX_LINES];
	struct name_list list = {0};

	if (number >= 4)
		return deep_chains(payload, 0, LONG_NAMES);
	for (uint32_t i = 0; i < RECORDING_MAX_LINES; i++) {
		int length = snprintf(text[i], sizeof(text[i]),
				      "_ZN1a21f%020" PRIu32 "Ev", i);

		line[i] = (struct recording_line){
			{text[i], (size_t)length}, {text[i], (size_t)length}, i};
	}
	for (uint32_t i = 0; i < 900; i++) {
		struct recording_name name = {
			.address = 0x100000 + (number * 900 + i) * 8 - 1,
			.name = {"_ZN1a1bEv", 9},
			.is_symbol = true,
			.is_common = true,
			.lines = line,
			.line_count = RECORDING_MAX_LINES,
		};

		name_list_add(&list, &name);
	}
	name_list_finish(&list, payload);
	name_list_free(&list);
	return CHUNK_NAMES;
}

/* The maximum number of programs, whose segments contain no sampled address; and then a
 * different address in each sample. */
static unsigned int shape_programs(struct buffer *payload, uint32_t number)
{
	struct recording_program program = {.name = "p", .path = "p"};

	if (number >= RECORDING_MAX_PROGRAMS)
		return shape_nodes(payload, number);
	for (unsigned int i = 0; i < RECORDING_SEGMENTS; i++) {
		program.segments[i][0] = 1;
		program.segments[i][1] = 1;
	}
	program_encode(payload, &program);
	return CHUNK_PROGRAM;
}

/* Fills @to with empty zstd frames. Returns their size in bytes. */
static size_t empty_frames(uint8_t *to, size_t size)
{
	uint8_t frame[32];
	size_t length = ZSTD_compress(frame, sizeof(frame), NULL, 0, 1), done = 0;

	for (; done + length <= size; done += length)
		memcpy(to + done, frame, length);
	return done;
}

static const struct {
	const char *name;
	unsigned int (*make)(struct buffer *payload,
			     uint32_t number); /* returns the type */
} shapes[] = {
	{"samples", shape_samples}, {"weights", shape_weights},
	{"nodes", shape_nodes},	    {"same-nodes", shape_same_nodes},
	{"deep", shape_deep},	    {"deep-samples", shape_deep_samples},
	{"vcpus", shape_vcpus},	    {"vcpus-and-nodes", shape_vcpus_and_nodes},
	{"spaces", shape_spaces},   {"domains", shape_domains},
	{"infos", shape_infos},	    {"empty", shape_empty},
	{"unknown", shape_unknown}, {"fields", shape_fields},
	{"names", shape_names},	    {"long-names", shape_long_names},
	{"lines", shape_lines},	    {"programs", shape_programs},
	{"waits", shape_waits},	    {"frames", NULL},
};

#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static void put_header(struct buffer *file, unsigned int type,
		       enum chunk_encoding encoding, const uint8_t *stored, size_t size,
		       size_t payload)
{
	uint8_t header[CHUNK_HEADER_SIZE] = CHUNK_MAGIC;

	put_le16(header + 4, (uint16_t)type);
	put_le16(header + 6, (uint16_t)encoding);
	put_le32(header + 8, (uint32_t)size);
	put_le32(header + 12, (uint32_t)payload);
	put_le32(header + 16, (uint32_t)crc32_z(0, stored, size));
	put_le32(header + 20, (uint32_t)crc32_z(0, header, 20));
	buffer_put(file, header, sizeof(header));
	buffer_put(file, stored, size);
}

static void put_chunk(struct buffer *file, unsigned int type,
		      const struct buffer *payload)
{
	size_t bound = ZSTD_compressBound(payload->size);
	uint8_t *stored = check_memory(malloc(bound));
	size_t size = ZSTD_compress(stored, bound, payload->data, payload->size, 3);

	if (ZSTD_isError(size) || size >= payload->size)
		put_header(file, type, CHUNK_PLAIN, payload->data, payload->size,
			   payload->size);
	else
		put_header(file, type, CHUNK_ZSTD, stored, size, payload->size);
	free(stored);
}

static void put_frames(struct buffer *file, size_t size)
{
	uint8_t *stored = check_memory(malloc(size));

	size = empty_frames(stored, size - CHUNK_HEADER_SIZE);
	put_header(file, CHUNK_SAMPLES, CHUNK_ZSTD, stored, size, 0);
	free(stored);
}

/* Puts meaningless bytes before the harmful ones: a larger recording has higher limits.
 */
static void put_filler(struct buffer *file, size_t size)
{
	uint8_t *filler = check_memory(calloc(1, size));

	put_header(file, 77, CHUNK_PLAIN, filler, size, size);
	free(filler);
}

/* Returns what the reader counts in a chunk. */
static struct recording_sums payload_sums(unsigned int type, const struct buffer *payload)
{
	struct recording_sums sums = {.payload = payload->size};
	const struct cursor bytes = {payload->data, payload->data + payload->size, false};
	struct samples_batch batch = {0};

	if (type == CHUNK_SAMPLES && samples_decode(bytes, &batch) == 0) {
		sums.samples = batch.count;
		sums.nodes = batch.nodes - SAMPLES_ROOTS;
	} else if (type == CHUNK_SAMPLES) {
		sums.nodes = sums.payload;
	} else if (type == CHUNK_NAMES) {
		sums.names = name_list_count(bytes);
		sums.names_payload = sums.payload;
	}
	samples_batch_free(&batch);
	return sums;
}

/* The number of different chunks; they are repeated if large, because making them takes
 * long. */
#define DIFFERENT 24

/* A chunk that may be repeated. */
struct kept {
	struct buffer chunk;
	struct recording_sums sums;
};

/* Adds chunks of the shape, as many as fit in @bytes and the limits. */
static void put_shape(struct buffer *file, size_t shape, size_t bytes)
{
	static struct kept all[DIFFERENT];
	struct recording_sums sums = {.payload = file->size};
	struct buffer payload = {0};

	for (uint32_t i = 0;; i++) {
		struct kept *kept = &all[i % DIFFERENT];

		if (i < DIFFERENT || kept->sums.payload < 4096) {
			unsigned int type;

			buffer_reset(&payload);
			buffer_reset(&kept->chunk);
			type = shapes[shape].make(&payload, i);
			put_chunk(&kept->chunk, type, &payload);
			kept->sums = payload_sums(type, &payload);
		}
		sums_add(&sums, &kept->sums);
		if (file->size + kept->chunk.size > bytes ||
		    !sums_fit(&sums, file->size + kept->chunk.size))
			break;
		buffer_put(file, kept->chunk.data, kept->chunk.size);
	}
	for (size_t i = 0; i < DIFFERENT; i++)
		buffer_free(&all[i].chunk);
	buffer_free(&payload);
}

int main(int argc, char **argv)
{
	struct buffer file = {0};
	size_t shape = 0, bytes;
	bool is_written;

	if (argc != 4) {
		for (size_t i = 0; i < SHAPES; i++)
			printf("%s\n", shapes[i].name);
		return argc == 1 ? 0 : 1;
	}
	while (shape < SHAPES && strcmp(shapes[shape].name, argv[1]) != 0)
		shape++;
	bytes = strtoull(argv[2], NULL, 10);
	if (shape == SHAPES || bytes < CHUNK_HEADER_SIZE)
		return 1;
	if (strtoull(argv[3], NULL, 10))
		put_filler(&file, strtoull(argv[3], NULL, 10));
	if (shapes[shape].make)
		put_shape(&file, shape, bytes);
	else
		put_frames(&file, bytes - file.size);
	is_written = fwrite(file.data, 1, file.size, stdout) == file.size &&
		     fflush(stdout) == 0;
	buffer_free(&file);
	return is_written ? 0 : 1;
}
