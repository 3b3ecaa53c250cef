/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/waits.h"

#include <stdlib.h>

#include "base/array.h"
#include "format/chunk.h"

/* A chunk with this many waits or addresses is full. */
#define FULL_WAITS     (RECORDING_MAX_SAMPLES / 4)
#define FULL_ADDRESSES (RECORDING_MAX_NODES / 2)

struct waits_encoder {
	struct samples_encoder *samples; /* empty but in waits_encoder_finish() */
	struct wait *waits;
	size_t count, capacity;
	struct buffer addresses; /* uint64_t: of all chains */
};

struct waits_encoder *waits_encoder_new(void)
{
	struct waits_encoder *encoder = calloc(1, sizeof(*encoder));

	if (encoder)
		encoder->samples = samples_encoder_new();
	if (encoder && encoder->samples)
		return encoder;
	free(encoder);
	return NULL;
}

void waits_encoder_free(struct waits_encoder *encoder)
{
	if (!encoder)
		return;
	samples_encoder_free(encoder->samples);
	buffer_free(&encoder->addresses);
	free(encoder->waits);
	free(encoder);
}

int waits_encoder_add(struct waits_encoder *encoder, const struct wait *wait)
{
	struct wait *copy;

	if (encoder->count == encoder->capacity) {
		size_t capacity = encoder->capacity ? encoder->capacity * 2 : 64;

		if (!array_grow(&encoder->waits, capacity, sizeof(*encoder->waits)))
			return -1;
		encoder->capacity = capacity;
	}
	buffer_put(&encoder->addresses, wait->chain.address,
		   wait->chain.count * sizeof(*wait->chain.address));
	if (encoder->addresses.failed)
		return -1;
	copy = &encoder->waits[encoder->count++];
	*copy = *wait;
	if (!wait->is_over || wait->to < wait->from)
		copy->to = wait->from;
	return 0;
}

bool waits_encoder_full(const struct waits_encoder *encoder)
{
	return encoder->count >= FULL_WAITS ||
	       encoder->addresses.size / sizeof(uint64_t) >= FULL_ADDRESSES;
}

size_t waits_encoder_count(const struct waits_encoder *encoder)
{
	return encoder->count;
}

void waits_counts_add(struct waits_counts *to, const struct waits_counts *more)
{
	if (more->until > to->until)
		to->until = more->until;
	if (more->threads > to->threads)
		to->threads = more->threads;
	to->period = more->period;
	to->rounds += more->rounds;
	to->skipped += more->skipped;
	to->read += more->read;
	to->torn += more->torn;
	to->unread += more->unread;
	to->cpu_time += more->cpu_time;
}

/* Gives each wait its copy of the chain, whose place is known only now. */
static void place_chains(struct waits_encoder *encoder)
{
	uint64_t *address = (uint64_t *)encoder->addresses.data;

	for (size_t i = 0; i < encoder->count; i++) {
		encoder->waits[i].chain.address = address;
		address += encoder->waits[i].chain.count;
	}
}

/* By thread, then by time: most columns then repeat their numbers, and chunks are a
 * quarter smaller. */
static int compare_waits(const void *a, const void *b)
{
	const struct wait *x = a, *y = b;

	if (x->domain != y->domain)
		return x->domain < y->domain ? -1 : 1;
	if (x->process.tid != y->process.tid)
		return x->process.tid < y->process.tid ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Returns the greatest common divisor, by Euclid's algorithm. */
static uint64_t common_unit(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

static void put_lengths(const struct waits_encoder *encoder, struct buffer *payload)
{
	const struct wait *waits = encoder->waits;
	struct buffer column = {0};
	uint64_t unit = 0;

	for (size_t i = 0; i < encoder->count; i++)
		unit = common_unit(waits[i].to - waits[i].from, unit);
	if (!unit)
		unit = 1;
	for (size_t i = 0; i < encoder->count; i++)
		buffer_put_varint(
			&column,
			waits[i].is_over ? (waits[i].to - waits[i].from) / unit + 1 : 0);
	payload->failed |= column.failed;
	field_put(payload, WAITS_LENGTH, column.data, column.size);
	field_put_number(payload, WAITS_LENGTH_UNIT, unit);
	buffer_free(&column);
}

static void put_counts(const struct waits_encoder *encoder,
		       const struct waits_counts *counts, struct buffer *payload)
{
	const struct {
		enum waits_tag tag;
		uint64_t value;
	} numbers[] = {
		{WAITS_PERIOD, counts->period},	  {WAITS_ROUNDS, counts->rounds},
		{WAITS_SKIPPED, counts->skipped}, {WAITS_THREADS, counts->threads},
		{WAITS_READ, counts->read},	  {WAITS_TORN, counts->torn},
		{WAITS_UNREAD, counts->unread},	  {WAITS_CPU_TIME, counts->cpu_time},
	};
	uint64_t until = counts->until;

	for (size_t i = 0; i < encoder->count; i++)
		if (encoder->waits[i].to > until)
			until = encoder->waits[i].to;
	field_put_number(payload, WAITS_UNTIL, until);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].value)
			field_put_number(payload, numbers[i].tag, numbers[i].value);
}

size_t waits_encoder_finish(struct waits_encoder *encoder,
			    const struct waits_counts *counts, struct buffer *payload)
{
	uint64_t lengths = 0; /* of all waits before, ns */
	size_t nodes;

	place_chains(encoder);
	if (encoder->count)
		qsort(encoder->waits, encoder->count, sizeof(*encoder->waits),
		      compare_waits);
	for (size_t i = 0; i < encoder->count; i++) {
		const struct wait *wait = &encoder->waits[i];
		const struct sample sample = {
			.time = wait->from - lengths,
			.domain = wait->domain,
			.weight = 1,
			.state = wait->state,
			.chain = wait->chain,
			.process = wait->process,
		};

		if (samples_encoder_add(encoder->samples, &sample) < 0)
			payload->failed = true;
		lengths += wait->to - wait->from;
	}
	put_lengths(encoder, payload);
	put_counts(encoder, counts, payload);
	nodes = samples_encoder_nodes(encoder->samples);
	samples_encoder_finish(encoder->samples, NULL, payload);
	buffer_reset(&encoder->addresses);
	encoder->count = 0;
	return nodes;
}

/* Returns the number that the field @tag holds; NULL if it is no number, or unknown. */
static uint64_t *number_of(struct waits_batch *batch, uint64_t *unit, uint64_t tag)
{
	uint64_t *const numbers[] = {
		[WAITS_LENGTH_UNIT] = unit,
		[WAITS_UNTIL] = &batch->counts.until,
		[WAITS_PERIOD] = &batch->counts.period,
		[WAITS_ROUNDS] = &batch->counts.rounds,
		[WAITS_SKIPPED] = &batch->counts.skipped,
		[WAITS_THREADS] = &batch->counts.threads,
		[WAITS_READ] = &batch->counts.read,
		[WAITS_TORN] = &batch->counts.torn,
		[WAITS_UNREAD] = &batch->counts.unread,
		[WAITS_CPU_TIME] = &batch->counts.cpu_time,
	};

	return tag < sizeof(numbers) / sizeof(numbers[0]) ? numbers[tag] : NULL;
}

/* Finds the fields of a payload that samples_decode() has checked. False if one is
 * damaged. */
static bool find_fields(struct waits_batch *batch, struct cursor payload,
			struct cursor *length, uint64_t *unit)
{
	struct field field;

	batch->counts = (struct waits_counts){0};
	while (field_next(&payload, &field)) {
		uint64_t *number = number_of(batch, unit, field.tag);

		if (number)
			*number = cursor_varint(&field.bytes);
		else if (field.tag == WAITS_LENGTH)
			*length = field.bytes;
		if (field.bytes.failed)
			return false;
	}
	return true;
}

/* Decodes the times of the waits: those of samples_decode() lack the lengths of all waits
 * before. */
static bool decode_lengths(struct waits_batch *batch, struct cursor length, uint64_t unit)
{
	uint64_t until = batch->counts.until, lengths = 0;

	for (size_t i = 0; i < batch->samples.count; i++) {
		uint64_t units = cursor_varint(&length);
		uint64_t from = batch->samples.time[i] += lengths;

		if (from > until || (units && units - 1 > (until - from) / unit))
			return false;
		batch->is_over[i] = units;
		batch->to[i] = until;
		if (units) {
			batch->to[i] = from + (units - 1) * unit;
			lengths += (units - 1) * unit;
		}
	}
	return !length.failed;
}

static bool waits_batch_grow(struct waits_batch *batch)
{
	if (batch->samples.count <= batch->capacity)
		return true;
	if (!array_grow(&batch->is_over, batch->samples.count, sizeof(*batch->is_over)) ||
	    !array_grow(&batch->to, batch->samples.count, sizeof(*batch->to)))
		return false;
	batch->capacity = batch->samples.count;
	return true;
}

int waits_decode(struct cursor payload, struct waits_batch *batch)
{
	struct samples_batch *samples = &batch->samples;
	struct cursor length = {0};
	uint64_t unit = 1;

	if (samples_decode(payload, samples) < 0)
		return -1;
	samples->no_memory = !waits_batch_grow(batch);
	if (!samples->no_memory && !samples->has_stacks &&
	    find_fields(batch, payload, &length, &unit) && unit &&
	    decode_lengths(batch, length, unit))
		return 0;
	samples->count = 0;
	return -1;
}

struct wait waits_batch_wait(const struct waits_batch *batch, size_t i, uint64_t *address)
{
	const struct sample sample = samples_batch_sample(&batch->samples, i, address);

	return (struct wait){
		.from = sample.time,
		.to = batch->to[i],
		.is_over = batch->is_over[i],
		.domain = sample.domain,
		.state = sample.state,
		.process = sample.process,
		.chain = sample.chain,
	};
}

void waits_batch_free(struct waits_batch *batch)
{
	samples_batch_free(&batch->samples);
	free(batch->is_over);
	free(batch->to);
	*batch = (struct waits_batch){0};
}
