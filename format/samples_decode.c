/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/samples.h"

#include <stdlib.h>

#include "format/chunk.h"
#include "format/samples_nodes.h"

/* The fields of the payload, found before any is decoded: they may stand in
 * any order, and some set the length of others. */
struct columns {
	uint64_t count, base_time, time_unit, nodes;
	bool has_domain, has_vcpu, has_state, has_weight, has_cpu_time, has_frameless,
		has_stack_high, has_same_time;
	struct cursor time, domain, vcpu, state, weight, stack, cpu_time, frameless;
	struct cursor same_time, stack_high, level, address, inner_ends, pauses;
};

static bool find_columns(struct cursor payload, struct columns *columns,
			 struct sampling_counts *counts)
{
	struct field field;

	while (field_next(&payload, &field)) {
		switch (field.tag) {
		case SAMPLES_COUNT:
			columns->count = cursor_varint(&field.bytes);
			break;
		case SAMPLES_BASE_TIME:
			columns->base_time = cursor_varint(&field.bytes);
			break;
		case SAMPLES_TIME:
			columns->time = field.bytes;
			break;
		case SAMPLES_DOMAIN:
			columns->domain = field.bytes;
			columns->has_domain = true;
			break;
		case SAMPLES_VCPU:
			columns->vcpu = field.bytes;
			columns->has_vcpu = true;
			break;
		case SAMPLES_STATE:
			columns->state = field.bytes;
			columns->has_state = true;
			break;
		case SAMPLES_WEIGHT:
			columns->weight = field.bytes;
			columns->has_weight = true;
			break;
		case SAMPLES_STACK:
			columns->stack = field.bytes;
			break;
		case SAMPLES_NODES:
			columns->nodes = cursor_varint(&field.bytes);
			break;
		case SAMPLES_LEVEL:
			columns->level = field.bytes;
			break;
		case SAMPLES_ADDRESS:
			columns->address = field.bytes;
			break;
		case SAMPLES_LOST:
			counts->lost = cursor_varint(&field.bytes);
			break;
		case SAMPLES_MISSED:
			counts->missed = cursor_varint(&field.bytes);
			break;
		case SAMPLES_PAUSES:
			columns->pauses = field.bytes;
			break;
		case SAMPLES_PAUSE_SUM:
			counts->pauses.sum = cursor_varint(&field.bytes);
			break;
		case SAMPLES_PAUSE_MAX:
			counts->pauses.max = cursor_varint(&field.bytes);
			break;
		case SAMPLES_CPU_TIME:
			columns->cpu_time = field.bytes;
			columns->has_cpu_time = true;
			break;
		case SAMPLES_FRAMELESS:
			columns->frameless = field.bytes;
			columns->has_frameless = true;
			break;
		case SAMPLES_STACK_HIGH:
			columns->stack_high = field.bytes;
			columns->has_stack_high = true;
			break;
		case SAMPLES_INNER_ENDS:
			columns->inner_ends = field.bytes;
			break;
		case SAMPLES_SAME_TIME:
			columns->same_time = field.bytes;
			columns->has_same_time = true;
			break;
		case SAMPLES_TIME_UNIT:
			columns->time_unit = cursor_varint(&field.bytes);
			break;
		default:
			break;
		}
		if (field.bytes.failed)
			return false;
	}
	return !payload.failed;
}

static bool grow(void *array, size_t count, size_t size)
{
	void **at = array;
	void *grown = realloc(*at, count * size);

	if (!grown)
		return false;
	*at = grown;
	return true;
}

/*
 * Each sample has at least a byte in the column of stacks, and each node in those
 * of levels and addresses, which is checked before memory is asked
 * for. The limits are for payloads that compress to next to nothing.
 */
static bool make_room(struct samples_batch *batch, const struct columns *columns)
{
	size_t samples = (size_t)columns->count;
	size_t nodes = (size_t)columns->nodes + SAMPLES_ROOTS;

	if (columns->count > RECORDING_MAX_SAMPLES ||
	    columns->nodes > RECORDING_MAX_NODES ||
	    columns->count > (uint64_t)(columns->stack.end - columns->stack.at) ||
	    columns->nodes > (uint64_t)(columns->level.end - columns->level.at) ||
	    columns->nodes > (uint64_t)(columns->address.end - columns->address.at))
		return false;
	if (samples > batch->sample_capacity) {
		if (!grow(&batch->time, samples, sizeof(*batch->time)) ||
		    !grow(&batch->domain, samples, sizeof(*batch->domain)) ||
		    !grow(&batch->vcpu, samples, sizeof(*batch->vcpu)) ||
		    !grow(&batch->state, samples, sizeof(*batch->state)) ||
		    !grow(&batch->weight, samples, sizeof(*batch->weight)) ||
		    !grow(&batch->stack, samples, sizeof(*batch->stack)) ||
		    !grow(&batch->cpu_time, samples, sizeof(*batch->cpu_time)) ||
		    !grow(&batch->frameless, samples, sizeof(*batch->frameless)))
			return false;
		batch->sample_capacity = samples;
	}
	if (nodes > batch->node_capacity) {
		if (!grow(&batch->parent, nodes, sizeof(*batch->parent)) ||
		    !grow(&batch->address, nodes, sizeof(*batch->address)) ||
		    !grow(&batch->depth, nodes, sizeof(*batch->depth)) ||
		    !grow(&batch->ends, nodes, sizeof(*batch->ends)))
			return false;
		batch->node_capacity = nodes;
	}
	batch->count = samples;
	batch->nodes = nodes;
	return true;
}

/* Where the walk through the tree is: the last node and those that it was called by. */
struct walk {
	uint32_t path[RECORDING_MAX_DEPTH + 1]; /* the root comes first */
	struct guesses guesses;
};

static bool decode_nodes(struct samples_batch *batch, struct columns *columns)
{
	struct walk walk = {0};
	uint64_t depth = 0; /* of the last node */

	for (uint32_t i = 0; i < SAMPLES_ROOTS; i++) {
		batch->parent[i] = i;
		batch->address[i] = 0;
		batch->depth[i] = 0;
	}
	for (size_t i = SAMPLES_ROOTS; i < batch->nodes; i++) {
		uint64_t up = cursor_varint(&columns->level), *guess, before = 0;
		uint32_t parent;

		if (up > depth) {
			up -= depth;
			depth = 0;
			if (up >= SAMPLES_ROOTS - walk.path[0])
				return false;
			walk.path[0] += (uint32_t)up;
		} else if (up) {
			depth -= up;
			before = batch->address[walk.path[depth + 1]];
		}
		if (depth == RECORDING_MAX_DEPTH)
			return false;
		parent = walk.path[depth++];
		guess = guess_of(&walk.guesses, batch->address[parent], before);
		*guess += (uint64_t)cursor_signed(&columns->address);
		batch->parent[i] = parent;
		batch->address[i] = *guess;
		batch->depth[i] = (uint16_t)depth;
		walk.path[depth] = (uint32_t)i;
	}
	return !columns->level.failed && !columns->address.failed;
}

/* The nodes that samples can end at, as they are numbered; how many in @count. */
static bool list_ends(struct samples_batch *batch, struct columns *columns, size_t *count)
{
	struct cursor *inner = &columns->inner_ends;
	uint64_t node = 0;

	*count = 0;
	while (inner->at != inner->end) {
		uint64_t step = cursor_varint(inner);

		if (step >= batch->nodes - node || *count == batch->nodes)
			return false;
		node += step;
		batch->ends[(*count)++] = (uint32_t)node;
	}
	for (size_t i = SAMPLES_ROOTS; i < batch->nodes; i++) {
		if (i + 1 < batch->nodes && batch->parent[i + 1] == i)
			continue;
		if (*count == batch->nodes)
			return false;
		batch->ends[(*count)++] = (uint32_t)i;
	}
	return !inner->failed;
}

static bool decode_times(struct samples_batch *batch, struct columns *columns)
{
	uint64_t time = columns->base_time;
	size_t i = 0;

	while (i < batch->count) {
		uint64_t same = 1;

		time += (uint64_t)cursor_signed(&columns->time) * columns->time_unit;
		if (columns->has_same_time)
			same = cursor_varint(&columns->same_time);
		if (!same || same > batch->count - i)
			return false;
		while (same--)
			batch->time[i++] = time;
	}
	return !columns->time.failed && !columns->same_time.failed;
}

/* Whether the next @count numbers have a byte each, as most columns' do. */
static bool is_bytes(const struct cursor *column, size_t count)
{
	uint8_t any = 0;

	if ((size_t)(column->end - column->at) < count)
		return false;
	for (size_t i = 0; i < count; i++)
		any |= column->at[i];
	return any < 0x80;
}

/* A column of numbers up to @max; one that is not there holds @absent. */
static bool decode_column(uint32_t *to, size_t count, struct cursor *column, bool there,
			  uint32_t absent, uint64_t max)
{
	if (there && max >= 0x7f && is_bytes(column, count)) {
		for (size_t i = 0; i < count; i++)
			to[i] = column->at[i];
		return true;
	}
	for (size_t i = 0; i < count; i++) {
		uint64_t value = there ? cursor_varint(column) : absent;

		if (value > max)
			return false;
		to[i] = (uint32_t)value;
	}
	return !column->failed;
}

static bool decode_stacks(struct samples_batch *batch, struct columns *columns)
{
	size_t ends;

	if (!list_ends(batch, columns, &ends) ||
	    !decode_column(batch->stack, batch->count, &columns->stack_high,
			   columns->has_stack_high, 0, RECORDING_MAX_NODES))
		return false;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t low = cursor_varint(&columns->stack);
		uint64_t high = (uint64_t)batch->stack[i] * STACK_LOW;

		if (low >= ends || low + high >= ends)
			return false;
		batch->stack[i] = batch->ends[low + high];
	}
	return !columns->stack.failed;
}

static bool decode_weights(struct samples_batch *batch, struct columns *columns)
{
	if (!decode_column(batch->weight, batch->count, &columns->weight,
			   columns->has_weight, 1, RECORDING_MAX_WEIGHT))
		return false;
	for (size_t i = 0; i < batch->count; i++)
		if (!batch->weight[i])
			return false;
	return true;
}

static bool decode_cpu_times(struct samples_batch *batch, struct columns *columns)
{
	batch->has_cpu_time = columns->has_cpu_time;
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t units = columns->has_cpu_time ? cursor_varint(&columns->cpu_time)
						       : 0;

		if (units > RECORDING_MAX_CPU_TIME)
			return false;
		batch->cpu_time[i] = units * RECORDING_CPU_TIME_UNIT;
	}
	return !columns->cpu_time.failed;
}

static bool decode_pauses(struct pauses *pauses, struct cursor column)
{
	uint64_t bucket = 0;

	while (column.at != column.end) {
		uint64_t count;

		bucket += cursor_varint(&column);
		count = cursor_varint(&column);
		if (column.failed || bucket >= PAUSES_BUCKETS)
			return false;
		pauses->bucket[bucket] += count;
		pauses->count += count;
	}
	return true;
}

int samples_decode(struct cursor payload, struct samples_batch *batch)
{
	struct columns columns = {.time_unit = 1};

	batch->count = 0;
	batch->nodes = 0;
	batch->counts = (struct sampling_counts){0};
	if (!find_columns(payload, &columns, &batch->counts) ||
	    !make_room(batch, &columns))
		return -1;
	if (!decode_nodes(batch, &columns) || !decode_times(batch, &columns) ||
	    !decode_column(batch->domain, batch->count, &columns.domain,
			   columns.has_domain, 0, RECORDING_MAX_DOMAIN) ||
	    !decode_column(batch->vcpu, batch->count, &columns.vcpu, columns.has_vcpu, 0,
			   RECORDING_MAX_VCPU) ||
	    !decode_column(batch->state, batch->count, &columns.state, columns.has_state,
			   VCPU_UNKNOWN, UINT8_MAX) ||
	    !decode_weights(batch, &columns) || !decode_stacks(batch, &columns) ||
	    !decode_cpu_times(batch, &columns) ||
	    !decode_column(batch->frameless, batch->count, &columns.frameless,
			   columns.has_frameless, 0, 1) ||
	    !decode_pauses(&batch->counts.pauses, columns.pauses)) {
		batch->count = 0;
		return -1;
	}
	return 0;
}

void samples_batch_free(struct samples_batch *batch)
{
	free(batch->time);
	free(batch->domain);
	free(batch->vcpu);
	free(batch->state);
	free(batch->weight);
	free(batch->stack);
	free(batch->cpu_time);
	free(batch->frameless);
	free(batch->parent);
	free(batch->address);
	free(batch->depth);
	free(batch->ends);
	*batch = (struct samples_batch){0};
}
