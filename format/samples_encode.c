/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples.h"

#include <stdlib.h>
#include <string.h>

#include "format/chunk.h"

/* A chunk is made when it has this many samples or nodes, or this much payload:
 * with one more sample, it still keeps the limits. */
#define FULL_SAMPLES (RECORDING_MAX_SAMPLES / 4)
#define FULL_NODES   (RECORDING_MAX_NODES / 2)
#define FULL_BYTES   (RECORDING_MAX_PAYLOAD / 2)

struct node {
	uint64_t address;
	uint32_t parent;
};

struct samples_encoder {
	size_t count;
	uint64_t base_time;
	uint64_t last_time;
	struct buffer time, domain, vcpu, state, weight, stack, cpu_time, frameless;
	bool plain_domain, plain_weight; /* only defaults so far */
	bool lacks_cpu_time;		 /* of a sample at least */
	bool has_frameless;		 /* a sample at least */

	struct node *nodes; /* without the roots */
	size_t node_count;
	size_t node_capacity;
	uint32_t *table; /* node numbers by hash, 0 where free */
	size_t table_size;
	struct buffer parent, address;
};

struct samples_encoder *samples_encoder_new(void)
{
	struct samples_encoder *encoder = calloc(1, sizeof(*encoder));

	if (!encoder)
		return NULL;
	encoder->plain_domain = encoder->plain_weight = true;
	encoder->table_size = 1024;
	encoder->table = calloc(encoder->table_size, sizeof(*encoder->table));
	if (!encoder->table) {
		free(encoder);
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
	buffer_free(&encoder->parent);
	buffer_free(&encoder->address);
	free(encoder->nodes);
	free(encoder->table);
	free(encoder);
}

/* Where the node is in the table, or where it belongs. */
static size_t slot_of(const struct samples_encoder *encoder, uint32_t parent,
		      uint64_t address)
{
	/* Multiplicative hashing with the golden ratio (Knuth, TAOCP 3, 6.4). */
	uint64_t hash = (address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u;
	size_t mask = encoder->table_size - 1, slot = (size_t)(hash >> 32) & mask;

	while (encoder->table[slot]) {
		const struct node *node =
			&encoder->nodes[encoder->table[slot] - SAMPLES_ROOTS];

		if (node->address == address && node->parent == parent)
			break;
		slot = (slot + 1) & mask;
	}
	return slot;
}

static int grow_table(struct samples_encoder *encoder)
{
	size_t size = encoder->table_size * 2;
	uint32_t *table = calloc(size, sizeof(*table));

	if (!table)
		return -1;
	free(encoder->table);
	encoder->table = table;
	encoder->table_size = size;
	for (size_t i = 0; i < encoder->node_count; i++)
		table[slot_of(encoder, encoder->nodes[i].parent,
			      encoder->nodes[i].address)] = (uint32_t)i + SAMPLES_ROOTS;
	return 0;
}

/* Finds or adds the node; 0 when memory is short. */
static uint32_t intern(struct samples_encoder *encoder, uint32_t parent, uint64_t address)
{
	size_t slot = slot_of(encoder, parent, address);
	uint64_t last = encoder->node_count
				? encoder->nodes[encoder->node_count - 1].address
				: 0;
	uint32_t number;

	if (encoder->table[slot])
		return encoder->table[slot];
	if (encoder->node_count * 2 >= encoder->table_size) {
		if (grow_table(encoder) < 0)
			return 0;
		slot = slot_of(encoder, parent, address);
	}
	if (encoder->node_count == encoder->node_capacity) {
		size_t capacity = encoder->node_capacity ? encoder->node_capacity * 2
							 : 512;
		struct node *nodes = realloc(encoder->nodes, capacity * sizeof(*nodes));

		if (!nodes)
			return 0;
		encoder->nodes = nodes;
		encoder->node_capacity = capacity;
	}
	number = (uint32_t)encoder->node_count + SAMPLES_ROOTS;
	encoder->nodes[encoder->node_count++] = (struct node){address, parent};
	encoder->table[slot] = number;
	buffer_put_varint(&encoder->parent, number - parent);
	buffer_put_signed(&encoder->address, (int64_t)(address - last));
	return number;
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
	uint32_t node = sample->chain.end;

	for (uint32_t i = sample->chain.count; i-- > 0;) {
		node = intern(encoder, node, sample->chain.address[i]);
		if (!node)
			return -1;
	}
	if (!encoder->count)
		encoder->base_time = encoder->last_time = sample->time;
	buffer_put_signed(&encoder->time, (int64_t)(sample->time - encoder->last_time));
	encoder->last_time = sample->time;
	buffer_put_varint(&encoder->domain, sample->domain);
	encoder->plain_domain &= sample->domain == 0;
	buffer_put_varint(&encoder->vcpu, sample->vcpu);
	buffer_put_varint(&encoder->state, sample->state);
	buffer_put_varint(&encoder->weight, sample->weight);
	encoder->plain_weight &= sample->weight == 1;
	buffer_put_varint(&encoder->stack, node);
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
		       encoder->parent.size + encoder->address.size;

	return encoder->count >= FULL_SAMPLES || encoder->node_count >= FULL_NODES ||
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

void samples_encoder_finish(struct samples_encoder *encoder,
			    const struct sampling_counts *counts, struct buffer *payload)
{
	field_put_number(payload, SAMPLES_COUNT, encoder->count);
	field_put_number(payload, SAMPLES_BASE_TIME, encoder->base_time);
	put_column(payload, SAMPLES_TIME, &encoder->time);
	if (!encoder->plain_domain)
		put_column(payload, SAMPLES_DOMAIN, &encoder->domain);
	put_column(payload, SAMPLES_VCPU, &encoder->vcpu);
	put_column(payload, SAMPLES_STATE, &encoder->state);
	if (!encoder->plain_weight)
		put_column(payload, SAMPLES_WEIGHT, &encoder->weight);
	put_column(payload, SAMPLES_STACK, &encoder->stack);
	field_put_number(payload, SAMPLES_NODES, encoder->node_count);
	put_column(payload, SAMPLES_PARENT, &encoder->parent);
	put_column(payload, SAMPLES_ADDRESS, &encoder->address);
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
	encoder->plain_domain = encoder->plain_weight = true;
	encoder->lacks_cpu_time = encoder->has_frameless = false;
	encoder->count = 0;
	encoder->node_count = 0;
	memset(encoder->table, 0, encoder->table_size * sizeof(*encoder->table));
}
