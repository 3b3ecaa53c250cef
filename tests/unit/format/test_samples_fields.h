/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_FORMAT_TEST_SAMPLES_FIELDS_H
#define UNIPROF_TESTS_UNIT_FORMAT_TEST_SAMPLES_FIELDS_H

/* Shared by the tests of chunks of samples that no writer would make. */

#include "tests/unit/test_recording.h"

#define TAGS (SAMPLES_EXIT + 1)

/* The payload of a chunk, field by field, so that a test can replace any field. */
struct fields {
	struct buffer field[TAGS];
	bool missing[TAGS];
};

static inline void set_number(struct fields *fields, unsigned int tag, uint64_t number)
{
	buffer_reset(&fields->field[tag]);
	buffer_put_varint(&fields->field[tag], number);
}

static inline void set_column(struct fields *fields, unsigned int tag, size_t count,
			      const uint64_t *values)
{
	buffer_reset(&fields->field[tag]);
	for (size_t i = 0; i < count; i++)
		buffer_put_varint(&fields->field[tag], values[i]);
}

/*
 * Prepares a chunk of three samples, four chains and four nodes. Complete chains: main
 * (0x1000), and main calling work (0x2000). Incomplete chains: one without addresses, and
 * main calling 0x2008. The samples have the chains that end in work and in main, and the
 * chain without addresses.
 */
static inline int fields_setup(void **state)
{
	static const uint64_t times[] = {20, 20}, stacks[] = {1, 0, 2},
			      vcpus[] = {0, 1, 0}, states[] = {1, 2, 3},
			      weights[] = {1, 2, 3}, domains[] = {0, 1, 0},
			      cpu_times[] = {0, 8, 300}, chain_kinds[] = {1, 0, 2},
			      drops[] = {0, 0, 5, 0}, growths[] = {2, 2, 3, 4},
			      known[] = {1, 0}, near[] = {16}, calls[] = {0, 0},
			      pauses[] = {100, 3, 20, 1}, spaces[] = {0, 0x7000},
			      space[] = {1, 0, 1}, pids[] = {0, 123},
			      exits[] = {0, 0x3f82, 5};
	struct fields *fields = calloc(1, sizeof(*fields));

	if (!fields)
		return -1;
	set_number(fields, SAMPLES_COUNT, 3);
	set_number(fields, SAMPLES_BASE_TIME, 1000);
	set_column(fields, SAMPLES_TIME, 2, times);
	set_column(fields, SAMPLES_DOMAIN, 3, domains);
	set_column(fields, SAMPLES_VCPU, 3, vcpus);
	set_column(fields, SAMPLES_STATE, 3, states);
	set_column(fields, SAMPLES_WEIGHT, 3, weights);
	set_column(fields, SAMPLES_STACK, 3, stacks);
	set_number(fields, SAMPLES_NODES, 4);
	set_column(fields, SAMPLES_DROP, 4, drops);
	set_column(fields, SAMPLES_GROWTH, 4, growths);
	set_column(fields, SAMPLES_KNOWN, 2, known);
	set_column(fields, SAMPLES_NEAR, 1, near);
	buffer_put(&fields->field[SAMPLES_CALL_LOW], "\x00\x10\x00\x10", 4);
	set_column(fields, SAMPLES_CALL, 2, calls);
	set_number(fields, SAMPLES_LOST, 4);
	set_number(fields, SAMPLES_MISSED, 5);
	set_column(fields, SAMPLES_PAUSES, 4, pauses);
	set_number(fields, SAMPLES_PAUSE_SUM, 400);
	set_number(fields, SAMPLES_PAUSE_MAX, 121);
	set_column(fields, SAMPLES_CPU_TIME, 3, cpu_times);
	set_number(fields, SAMPLES_CPU_TIME_UNIT, 10000);
	set_column(fields, SAMPLES_CHAIN_KIND, 3, chain_kinds);
	set_column(fields, SAMPLES_SPACES, 2, spaces);
	set_column(fields, SAMPLES_SPACE, 3, space);
	set_column(fields, SAMPLES_PID, 2, pids);
	buffer_put(&fields->field[SAMPLES_COMM], "\0\3web", 5);
	set_column(fields, SAMPLES_EXIT, 3, exits);
	for (unsigned int tag = 0; tag < TAGS; tag++)
		fields->missing[tag] = !fields->field[tag].size;
	*state = fields;
	return 0;
}

static inline int fields_teardown(void **state)
{
	struct fields *fields = *state;

	for (unsigned int tag = 0; tag < TAGS; tag++)
		buffer_free(&fields->field[tag]);
	free(fields);
	return 0;
}

static inline void put_fields(const struct fields *fields, struct buffer *payload)
{
	buffer_reset(payload);
	for (unsigned int tag = 0; tag < TAGS; tag++)
		if (!fields->missing[tag])
			field_put(payload, tag, fields->field[tag].data,
				  fields->field[tag].size);
}

/* Expects what samples_decode() guarantees for accepted payloads. */
static inline void expect_sound(const struct samples_batch *batch)
{
	assert_true(batch->nodes >= SAMPLES_ROOTS);
	for (size_t i = 0; i < batch->nodes; i++) {
		uint32_t parent = batch->parent[i];

		assert_true(i < SAMPLES_ROOTS ? parent == i : parent < i);
		assert_int_equal(batch->depth[i],
				 i < SAMPLES_ROOTS ? 0 : batch->depth[parent] + 1);
		assert_true(batch->depth[i] <= RECORDING_MAX_DEPTH);
	}
	for (size_t i = 0; i < batch->count; i++) {
		assert_true(batch->domain[i] <= RECORDING_MAX_DOMAIN);
		assert_true(batch->vcpu[i] <= RECORDING_MAX_VCPU);
		assert_true(batch->state[i] <= UINT8_MAX);
		assert_true(batch->weight[i] >= 1);
		assert_true(batch->weight[i] <= RECORDING_MAX_WEIGHT);
		assert_true(batch->stack[i] < batch->nodes);
		assert_true(batch->chain_kind[i] < CHAIN_KINDS);
		assert_true(batch->exit[i] <= EXIT_MAX);
		assert_true(batch->process[i] < batch->process_count);
		assert_true(batch->cpu_time[i] <= RECORDING_MAX_CPU_TIME);
	}
}

/* Decodes into @batch, and expects it to be sound if accepted, else empty. */
static inline bool decode_batch(struct cursor payload, struct samples_batch *batch)
{
	if (samples_decode(payload, batch) < 0) {
		assert_int_equal(batch->count, 0);
		return false;
	}
	expect_sound(batch);
	return true;
}

static inline bool accepted(const struct fields *fields)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	bool decoded;

	put_fields(fields, &payload);
	decoded = decode_batch(cursor_of(&payload), &batch);
	/* A hostile payload can be large and cost almost nothing, because it compresses.
	 */
	assert_true(batch.sample_capacity <= RECORDING_MAX_SAMPLES);
	assert_true(batch.node_capacity <= RECORDING_MAX_NODES + SAMPLES_ROOTS);
	buffer_free(&payload);
	samples_batch_free(&batch);
	return decoded;
}

static inline bool accepted_with(struct fields *fields, unsigned int tag, size_t count,
				 const uint64_t *values)
{
	struct buffer kept = fields->field[tag];
	bool missing = fields->missing[tag], decoded;

	fields->field[tag] = (struct buffer){0};
	fields->missing[tag] = false;
	set_column(fields, tag, count, values);
	decoded = accepted(fields);
	buffer_free(&fields->field[tag]);
	fields->field[tag] = kept;
	fields->missing[tag] = missing;
	return decoded;
}

#define FIELDS_TEST(name) \
	cmocka_unit_test_setup_teardown(name, fields_setup, fields_teardown)

#endif
