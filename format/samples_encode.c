/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples.h"

#include <stdlib.h>
#include <string.h>

#include "format/chunk.h"
#include "format/samples_nodes.h"

/* A chunk is made when it has this many samples or nodes, or this much payload:
 * with one more sample, it still keeps the limits. */
#define FULL_SAMPLES (RECORDING_MAX_SAMPLES / 4)
#define FULL_NODES   (RECORDING_MAX_NODES / 2)
#define FULL_BYTES   (RECORDING_MAX_PAYLOAD / 2)

struct samples_encoder {
	size_t count;
	uint64_t base_time;
	uint64_t last_time;
	struct buffer domain, vcpu, state, weight, cpu_time, frameless;
	struct buffer time;		 /* int64_t: ns since the sample before */
	struct buffer stack;		 /* uint32_t: node */
	bool whole_us;			 /* all of these times are */
	bool plain_domain, plain_weight; /* only defaults so far */
	bool lacks_cpu_time;		 /* of a sample at least */
	bool has_frameless;		 /* a sample at least */

	struct nodes nodes;
	struct node_columns columns;
	struct buffer first, second; /* columns while they are made */
};

struct samples_encoder *samples_encoder_new(void)
{
	struct samples_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->plain_domain = encoder->plain_weight = encoder->whole_us = true;
	if (nodes_init(&encoder->nodes) < 0) {
		samples_encoder_free(encoder);
		return NULL;
	}
	return encoder;
}

void samples_encoder_free(struct samples_encoder *encoder)
{
	if (!encoder)
		return;
	buffer_free(&encoder->time);
	buffer_free(&encoder->domain);
	buffer_free(&encoder->vcpu);
	buffer_free(&encoder->state);
	buffer_free(&encoder->weight);
	buffer_free(&encoder->stack);
	buffer_free(&encoder->cpu_time);
	buffer_free(&encoder->frameless);
	buffer_free(&encoder->first);
	buffer_free(&encoder->second);
	buffer_free(&encoder->columns.level);
	buffer_free(&encoder->columns.address);
	buffer_free(&encoder->columns.inner_ends);
	nodes_free(&encoder->nodes);
	free(encoder);
}

static void put_cpu_time(struct buffer *column, uint64_t ns)
{
	uint64_t units = ns / RECORDING_CPU_TIME_UNIT;

	if (units > RECORDING_MAX_CPU_TIME)
		units = RECORDING_MAX_CPU_TIME;
	buffer_put_varint(column, units);
}

int samples_encoder_add(struct samples_encoder *encoder, const struct sample *sample)
{
	uint32_t node = nodes_add(&encoder->nodes, &sample->chain);
	int64_t since;

	if (!node && sample->chain.count)
		return -1;
	if (!encoder->count)
		encoder->base_time = encoder->last_time = sample->time;
	since = (int64_t)(sample->time - encoder->last_time);
	encoder->whole_us &= since % RECORDING_TIME_UNIT == 0;
	buffer_put(&encoder->time, &since, sizeof(since));
	encoder->last_time = sample->time;
	buffer_put_varint(&encoder->domain, sample->domain);
	encoder->plain_domain &= sample->domain == 0;
	buffer_put_varint(&encoder->vcpu, sample->vcpu);
	buffer_put_varint(&encoder->state, sample->state);
	buffer_put_varint(&encoder->weight, sample->weight);
	encoder->plain_weight &= sample->weight == 1;
	buffer_put(&encoder->stack, &node, sizeof(node));
	if (sample->has_cpu_time)
		put_cpu_time(&encoder->cpu_time, sample->cpu_time);
	else
		encoder->lacks_cpu_time = true;
	buffer_put_varint(&encoder->frameless, sample->chain.frameless);
	encoder->has_frameless |= sample->chain.frameless;
	encoder->count++;
	return 0;
}

size_t samples_encoder_count(const struct samples_encoder *encoder)
{
	return encoder->count;
}

bool samples_encoder_full(const struct samples_encoder *encoder)
{
	size_t bytes = encoder->time.size + encoder->domain.size + encoder->vcpu.size +
		       encoder->state.size + encoder->weight.size + encoder->stack.size +
		       encoder->cpu_time.size + encoder->frameless.size +
		       encoder->nodes.count * NODE_BYTES;

	return encoder->count >= FULL_SAMPLES || encoder->nodes.count >= FULL_NODES ||
	       bytes >= FULL_BYTES;
}

static void put_column(struct buffer *payload, enum samples_tag tag,
		       struct buffer *column)
{
	payload->failed |= column->failed;
	field_put(payload, tag, column->data, column->size);
	buffer_reset(column);
}

static void put_pauses(struct buffer *payload, const struct pauses *pauses)
{
	struct buffer column = {0};
	unsigned int last = 0;

	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		if (!pauses->bucket[i])
			continue;
		buffer_put_varint(&column, i - last);
		buffer_put_varint(&column, pauses->bucket[i]);
		last = i;
	}
	put_column(payload, SAMPLES_PAUSES, &column);
	buffer_free(&column);
	field_put_number(payload, SAMPLES_PAUSE_SUM, pauses->sum);
	field_put_number(payload, SAMPLES_PAUSE_MAX, pauses->max);
}

/* Each different time once, and how many samples in a row have it. */
static void put_times(struct samples_encoder *encoder, struct buffer *payload)
{
	const int64_t *since = (const int64_t *)encoder->time.data;
	struct buffer *times = &encoder->first, *same = &encoder->second;
	int64_t unit = encoder->whole_us ? RECORDING_TIME_UNIT : 1;
	size_t i = 0, distinct = 0;

	payload->failed |= encoder->time.failed;
	while (i < encoder->count && !payload->failed) {
		size_t first = i++;

		while (i < encoder->count && !since[i])
			i++;
		buffer_put_signed(times, since[first] / unit);
		buffer_put_varint(same, i - first);
		distinct++;
	}
	put_column(payload, SAMPLES_TIME, times);
	if (distinct < encoder->count)
		put_column(payload, SAMPLES_SAME_TIME, same);
	buffer_reset(same);
	if (encoder->whole_us)
		field_put_number(payload, SAMPLES_TIME_UNIT, RECORDING_TIME_UNIT);
	buffer_reset(&encoder->time);
}

static void put_stacks(struct samples_encoder *encoder, struct buffer *payload)
{
	uint32_t *stacks = (uint32_t *)encoder->stack.data;
	struct node_columns *columns = &encoder->columns;
	struct buffer *low = &encoder->first, *high = &encoder->second;
	bool any_high = false;

	payload->failed |= encoder->stack.failed ||
			   nodes_store(&encoder->nodes, columns, stacks, encoder->count) <
				   0;
	for (size_t i = 0; i < encoder->count && !payload->failed; i++) {
		buffer_put_varint(low, stacks[i] % STACK_LOW);
		buffer_put_varint(high, stacks[i] / STACK_LOW);
		any_high |= stacks[i] >= STACK_LOW;
	}
	put_column(payload, SAMPLES_STACK, low);
	if (any_high)
		put_column(payload, SAMPLES_STACK_HIGH, high);
	buffer_reset(high);
	field_put_number(payload, SAMPLES_NODES, encoder->nodes.count);
	put_column(payload, SAMPLES_LEVEL, &columns->level);
	put_column(payload, SAMPLES_ADDRESS, &columns->address);
	if (columns->inner_ends.size)
		put_column(payload, SAMPLES_INNER_ENDS, &columns->inner_ends);
	buffer_reset(&encoder->stack);
}

void samples_encoder_finish(struct samples_encoder *encoder,
			    const struct sampling_counts *counts, struct buffer *payload)
{
	field_put_number(payload, SAMPLES_COUNT, encoder->count);
	field_put_number(payload, SAMPLES_BASE_TIME, encoder->base_time);
	put_times(encoder, payload);
	if (!encoder->plain_domain)
		put_column(payload, SAMPLES_DOMAIN, &encoder->domain);
	put_column(payload, SAMPLES_VCPU, &encoder->vcpu);
	put_column(payload, SAMPLES_STATE, &encoder->state);
	if (!encoder->plain_weight)
		put_column(payload, SAMPLES_WEIGHT, &encoder->weight);
	put_stacks(encoder, payload);
	field_put_number(payload, SAMPLES_LOST, counts->lost);
	field_put_number(payload, SAMPLES_MISSED, counts->missed);
	put_pauses(payload, &counts->pauses);
	if (encoder->count && !encoder->lacks_cpu_time)
		put_column(payload, SAMPLES_CPU_TIME, &encoder->cpu_time);
	if (encoder->has_frameless)
		put_column(payload, SAMPLES_FRAMELESS, &encoder->frameless);

	buffer_reset(&encoder->domain);
	buffer_reset(&encoder->weight);
	buffer_reset(&encoder->cpu_time);
	buffer_reset(&encoder->frameless);
	encoder->plain_domain = encoder->plain_weight = encoder->whole_us = true;
	encoder->lacks_cpu_time = encoder->has_frameless = false;
	encoder->count = 0;
	nodes_reset(&encoder->nodes);
}
