/* SPDX-License-Identifier: BSD-3-Clause */

/* Chunks of samples that no writer made: refused, or read within the limits. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#define TAGS (SAMPLES_PAUSE_MAX + 1)

/* The payload of a chunk, a field at a time, so that a test can put another
 * in the place of any. */
struct fields {
	struct buffer field[TAGS];
	bool missing[TAGS];
};

static void set_number(struct fields *fields, unsigned int tag, uint64_t number)
{
	buffer_reset(&fields->field[tag]);
	buffer_put_varint(&fields->field[tag], number);
}

static void set_column(struct fields *fields, unsigned int tag, size_t count,
		       const uint64_t *values)
{
	buffer_reset(&fields->field[tag]);
	for (size_t i = 0; i < count; i++)
		buffer_put_varint(&fields->field[tag], values[i]);
}

/*
 * Three samples of four chains, and four nodes. Whole chains: main (0x1000), and work
 * (0x2000) that it calls; others: one without addresses, and main that calls 0x2008. The
 * samples end in work, in main, and before any address.
 */
static int fields_setup(void **state)
{
	static const uint64_t times[] = {20, 20}, stacks[] = {1, 0, 2},
			      vcpus[] = {0, 1, 0}, states[] = {1, 2, 3},
			      weights[] = {1, 2, 3}, domains[] = {0, 1, 0},
			      cpu_times[] = {0, 8, 300}, frameless[] = {1, 0, 1},
			      drops[] = {0, 0, 5, 0}, growths[] = {2, 2, 3, 4},
			      known[] = {1, 0}, near[] = {16}, calls[] = {0, 0},
			      pauses[] = {100, 3, 20, 1};
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
	set_column(fields, SAMPLES_FRAMELESS, 3, frameless);
	for (unsigned int tag = 0; tag < TAGS; tag++)
		fields->missing[tag] = !fields->field[tag].size;
	*state = fields;
	return 0;
}

static int fields_teardown(void **state)
{
	struct fields *fields = *state;

	for (unsigned int tag = 0; tag < TAGS; tag++)
		buffer_free(&fields->field[tag]);
	free(fields);
	return 0;
}

static void put_fields(const struct fields *fields, struct buffer *payload)
{
	buffer_reset(payload);
	for (unsigned int tag = 0; tag < TAGS; tag++)
		if (!fields->missing[tag])
			field_put(payload, tag, fields->field[tag].data,
				  fields->field[tag].size);
}

/* What samples_decode() promises of what it accepts. */
static void expect_sound(const struct samples_batch *batch)
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
		assert_true(batch->frameless[i] <= 1);
		assert_true(batch->cpu_time[i] <= RECORDING_MAX_CPU_TIME);
	}
}

/* Decodes into @batch; what is accepted must be sound, what is not, empty. */
static bool decode(struct cursor payload, struct samples_batch *batch)
{
	if (samples_decode(payload, batch) < 0) {
		assert_int_equal(batch->count, 0);
		return false;
	}
	expect_sound(batch);
	return true;
}

static bool accepted(const struct fields *fields)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	bool decoded;

	put_fields(fields, &payload);
	decoded = decode(cursor_of(&payload), &batch);
	buffer_free(&payload);
	samples_batch_free(&batch);
	return decoded;
}

static bool accepted_with(struct fields *fields, unsigned int tag, size_t count,
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

static void a_chunk_made_by_hand_is_read_as_meant(void **state)
{
	static uint64_t chain[] = {0x2000, 0x1000, 0x1000};
	static const struct sample samples[] = {
		{1000, 0, 0, 1, 1, 0, true, {chain, 2, CHAIN_WHOLE, true}},
		{1010, 1, 1, 2, 2, 80000, true, {chain + 2, 1, CHAIN_WHOLE, false}},
		{1020, 0, 0, 3, 3, 3000000, true, {chain, 0, CHAIN_NOT_CANONICAL, true}},
	};
	struct samples_batch batch = {0};
	struct buffer payload = {0};

	put_fields(*state, &payload);
	assert_true(decode(cursor_of(&payload), &batch));
	expect_samples(&batch, samples, 3);
	assert_int_equal(batch.counts.lost, 4);
	assert_int_equal(batch.counts.missed, 5);
	assert_int_equal(batch.counts.pauses.count, 4);
	assert_int_equal(batch.counts.pauses.sum, 400);
	assert_int_equal(batch.counts.pauses.max, 121);
	assert_int_equal(batch.counts.pauses.bucket[100], 3);
	assert_int_equal(batch.counts.pauses.bucket[120], 1);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void absent_columns_hold_their_defaults(void **state)
{
	struct fields *fields = *state;
	struct samples_batch batch = {0};
	struct buffer payload = {0};

	fields->missing[SAMPLES_DOMAIN] = fields->missing[SAMPLES_VCPU] = true;
	fields->missing[SAMPLES_STATE] = fields->missing[SAMPLES_WEIGHT] = true;
	fields->missing[SAMPLES_PAUSES] = fields->missing[SAMPLES_LOST] = true;
	fields->missing[SAMPLES_MISSED] = fields->missing[SAMPLES_BASE_TIME] = true;
	fields->missing[SAMPLES_CPU_TIME] = fields->missing[SAMPLES_FRAMELESS] = true;
	fields->missing[SAMPLES_PAUSE_MAX] = fields->missing[SAMPLES_PAUSE_SUM] = true;
	put_fields(fields, &payload);
	assert_true(decode(cursor_of(&payload), &batch));
	assert_int_equal(batch.count, 3);
	assert_false(batch.has_cpu_time);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(batch.time[i], i * 10);
		assert_int_equal(batch.domain[i], 0);
		assert_int_equal(batch.vcpu[i], 0);
		assert_int_equal(batch.state[i], VCPU_UNKNOWN);
		assert_int_equal(batch.weight[i], 1);
		assert_int_equal(batch.cpu_time[i], 0);
		assert_int_equal(batch.frameless[i], 0);
	}
	assert_int_equal(batch.counts.lost + batch.counts.missed, 0);
	assert_int_equal(batch.counts.pauses.count, 0);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void columns_that_samples_need_must_be_there(void **state)
{
	static const unsigned int needed[] = {
		SAMPLES_TIME, SAMPLES_STACK,  SAMPLES_NODES,
		SAMPLES_DROP, SAMPLES_GROWTH, SAMPLES_KNOWN,
		SAMPLES_NEAR, SAMPLES_CALL,   SAMPLES_CALL_LOW,
	};
	struct fields *fields = *state;

	assert_true(accepted(fields));
	for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		fields->missing[needed[i]] = true;
		assert_false(accepted(fields));
		fields->missing[needed[i]] = false;
	}
	/* Without a count, there are none. */
	fields->missing[SAMPLES_COUNT] = true;
	assert_true(accepted(fields));
}

static void counts_larger_than_their_columns_are_refused(void **state)
{
	static const uint64_t counts[] = {5,	      6,	  1000,		 1 << 20,
					  UINT32_MAX, UINT64_MAX, 1ull << 32 | 4};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		assert_false(accepted_with(*state, SAMPLES_COUNT, 1, &counts[i]));
		assert_false(accepted_with(*state, SAMPLES_NODES, 1, &counts[i]));
	}
	assert_false(accepted_with(*state, SAMPLES_COUNT, 1, (uint64_t[]){4}));
	assert_false(accepted_with(*state, SAMPLES_NODES, 1, (uint64_t[]){3}));
	/* More in a column than is counted does not matter. */
	assert_true(accepted_with(*state, SAMPLES_COUNT, 1, (uint64_t[]){2}));
}

static void columns_with_enough_bytes_but_too_few_numbers_are_refused(void **state)
{
	static const unsigned int columns[] = {
		SAMPLES_TIME,  SAMPLES_DOMAIN, SAMPLES_VCPU,	 SAMPLES_STATE,
		SAMPLES_STACK, SAMPLES_WEIGHT, SAMPLES_CPU_TIME, SAMPLES_FRAMELESS,
		SAMPLES_DROP,  SAMPLES_GROWTH, SAMPLES_KNOWN,	 SAMPLES_CALL,
	};
	static const uint64_t padded_one = 1;
	struct fields *fields = *state;

	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		struct buffer *column = &fields->field[columns[i]];
		struct buffer kept = *column;

		*column = (struct buffer){0};
		buffer_put(column, "\x81\x80\x80\x80\x00", 5); /* 1, in five bytes */
		assert_false(accepted(fields));
		buffer_free(column);
		*column = kept;
	}
	assert_false(accepted_with(fields, SAMPLES_WEIGHT, 0, &padded_one));
	assert_false(accepted_with(fields, SAMPLES_CPU_TIME, 0, &padded_one));
}

static void numbers_beyond_the_limits_are_refused(void **state)
{
	static const struct {
		unsigned int tag;
		uint64_t most;
	} limits[] = {
		{SAMPLES_DOMAIN, RECORDING_MAX_DOMAIN},
		{SAMPLES_VCPU, RECORDING_MAX_VCPU},
		{SAMPLES_STATE, UINT8_MAX},
		{SAMPLES_WEIGHT, RECORDING_MAX_WEIGHT},
		{SAMPLES_STACK, 3},
		{SAMPLES_FRAMELESS, 1},
	};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		uint64_t values[] = {1, 1, limits[i].most};

		assert_true(accepted_with(*state, limits[i].tag, 3, values));
		for (uint64_t more = 1; more; more <<= 1) {
			values[2] = limits[i].most + more;
			if (values[2] > limits[i].most)
				assert_false(
					accepted_with(*state, limits[i].tag, 3, values));
		}
	}
	assert_false(accepted_with(*state, SAMPLES_WEIGHT, 3, (uint64_t[]){1, 0, 1}));
}

/* The addresses of the chain that the first sample is said to have. */
static void expect_chain(struct fields *fields, uint64_t stack, size_t count,
			 const uint64_t *addresses)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	uint32_t node;

	set_column(fields, SAMPLES_STACK, 3, (uint64_t[]){stack, 0, 0});
	put_fields(fields, &payload);
	assert_true(decode(cursor_of(&payload), &batch));
	node = batch.stack[0];
	assert_int_equal(batch.depth[node], count);
	for (size_t i = 0; i < count; i++, node = batch.parent[node])
		assert_int_equal(batch.address[node], addresses[i]);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void callees_are_known_or_near_known_ones(void **state)
{
	expect_chain(*state, 3, 2, (uint64_t[]){0x2008, 0x1000});
	set_column(*state, SAMPLES_KNOWN, 2, (uint64_t[]){1, 1});
	expect_chain(*state, 3, 2, (uint64_t[]){0x2000, 0x1000});
	set_column(*state, SAMPLES_KNOWN, 1, (uint64_t[]){0});
	set_column(*state, SAMPLES_NEAR, 1, (uint64_t[]){1});
	set_column(*state, SAMPLES_CALL, 3, (uint64_t[]){0, 0, 2});
	buffer_put(&((struct fields *)*state)->field[SAMPLES_CALL_LOW], "\x02\x00", 2);
	expect_chain(*state, 3, 2, (uint64_t[]){0x11001, 0xfff});
}

static void a_callee_that_is_not_known_is_refused(void **state)
{
	static const uint64_t refused[] = {2, 3, 32, 33, 1ull << 32 | 1, UINT64_MAX};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		assert_false(accepted_with(*state, SAMPLES_KNOWN, 2,
					   (uint64_t[]){refused[i], 0}));
		assert_false(accepted_with(*state, SAMPLES_KNOWN, 2,
					   (uint64_t[]){1, refused[i]}));
	}
}

static void a_chain_has_a_root_and_only_nodes_that_there_are(void **state)
{
	static const uint64_t drops[][4] = {
		{SAMPLES_ROOTS, 0, 5, 0}, /* beyond the last root */
		{0, 0, 2 + SAMPLES_ROOTS, 0},
		{15, 0, 3, 0}, /* the next but the last */
		{0, 0, UINT64_MAX, 0},
		{0, 1ull << 32, 5, 0},
		{0, 1, 5, 0}, /* makes a node more */
	};
	static const uint64_t growths[][4] = {
		{1, 2, 3, 4}, /* shorter than nothing */
		{2, 1, 3, 4}, /* than what is kept */
		{2, 2, 5, 4}, /* than nothing */
		{2, 2, 3, 6}, /* more nodes than there are, */
		{2, 2, 3, 2}, /* and fewer */
		{2, 2, 3, UINT64_MAX}, {2, 2, 3, UINT64_MAX - 1}, {1ull << 33, 2, 3, 4},
	};

	for (size_t i = 0; i < sizeof(drops) / sizeof(drops[0]); i++)
		assert_false(accepted_with(*state, SAMPLES_DROP, 4, drops[i]));
	for (size_t i = 0; i < sizeof(growths) / sizeof(growths[0]); i++)
		assert_false(accepted_with(*state, SAMPLES_GROWTH, 4, growths[i]));
	assert_true(accepted_with(*state, SAMPLES_DROP, 4,
				  (uint64_t[]){0, 0, 1 + SAMPLES_ROOTS, 0}));
	assert_true(accepted_with(*state, SAMPLES_DROP, 4, (uint64_t[]){13, 0, 4, 0}));
}

static void there_are_not_many_more_chains_than_nodes(void **state)
{
	struct fields *fields = *state;

	/* The last one again and again. */
	for (unsigned int chains = 5; chains < SAMPLES_ROOTS + 6; chains++) {
		buffer_put_varint(&fields->field[SAMPLES_DROP], 0);
		buffer_put_varint(&fields->field[SAMPLES_GROWTH], 0);
		assert_int_equal(accepted(fields), chains <= SAMPLES_ROOTS + 4);
	}
}

static void stacks_are_numbered_in_two_parts(void **state)
{
	static const uint64_t refused[][3] = {
		{0, 0, 1},	    /* 128 */
		{1ull << 57, 0, 0}, /* 2^64 */
		{UINT64_MAX, 0, 0},
	};

	assert_true(accepted_with(*state, SAMPLES_STACK_HIGH, 3, (uint64_t[]){0, 0, 0}));
	assert_false(accepted_with(*state, SAMPLES_STACK_HIGH, 2, (uint64_t[]){0, 0}));
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(accepted_with(*state, SAMPLES_STACK_HIGH, 3, refused[i]));
}

static void times_are_of_as_many_samples_as_there_are(void **state)
{
	static const uint64_t refused[][3] = {
		{0, 3, 0}, {1, 0, 2}, {2, 2, 0}, {4, 0, 0}, {UINT64_MAX, 4, 0},
	};
	struct fields *fields = *state;
	struct samples_batch batch = {0};
	struct buffer payload = {0};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(accepted_with(fields, SAMPLES_SAME_TIME, 3, refused[i]));
	assert_false(accepted_with(fields, SAMPLES_SAME_TIME, 1, (uint64_t[]){2}));
	set_column(fields, SAMPLES_SAME_TIME, 2, (uint64_t[]){2, 1});
	set_number(fields, SAMPLES_TIME_UNIT, 7);
	set_number(fields, SAMPLES_TIME_STEP, 5);
	fields->missing[SAMPLES_SAME_TIME] = fields->missing[SAMPLES_TIME_UNIT] = false;
	fields->missing[SAMPLES_TIME_STEP] = false;
	put_fields(fields, &payload);
	assert_true(decode(cursor_of(&payload), &batch));
	assert_int_equal(batch.time[0], 1000);
	assert_int_equal(batch.time[1], 1000);
	assert_int_equal(batch.time[2], 1000 + 7 * (5 + 10));
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void cpu_times_keep_to_their_limit_in_any_unit(void **state)
{
	static const uint64_t units[] = {1, 3, 10000, RECORDING_MAX_CPU_TIME};
	static const uint64_t refused[] = {0, RECORDING_MAX_CPU_TIME + 1, UINT64_MAX};
	struct fields *fields = *state;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t most = RECORDING_MAX_CPU_TIME / units[i];

		set_number(fields, SAMPLES_CPU_TIME_UNIT, units[i]);
		fields->missing[SAMPLES_CPU_TIME_USUAL] = true;
		/* A running vCPU's is a difference to the usual one. */
		for (uint64_t usual = most; usual <= most + 1; usual++) {
			assert_int_equal(accepted_with(fields, SAMPLES_CPU_TIME, 3,
						       (uint64_t[]){2 * usual, 0, most}),
					 usual == most);
			assert_int_equal(accepted_with(fields, SAMPLES_CPU_TIME, 3,
						       (uint64_t[]){0, usual, 0}),
					 usual == most);
		}
		assert_false(accepted_with(fields, SAMPLES_CPU_TIME, 3,
					   (uint64_t[]){1, 0, 0}));
		set_number(fields, SAMPLES_CPU_TIME_USUAL, most);
		fields->missing[SAMPLES_CPU_TIME_USUAL] = false;
		assert_true(accepted_with(fields, SAMPLES_CPU_TIME, 3,
					  (uint64_t[]){1, 0, 0}));
		assert_false(accepted_with(fields, SAMPLES_CPU_TIME, 3,
					   (uint64_t[]){2, 0, 0}));
	}
	fields->missing[SAMPLES_CPU_TIME_USUAL] = true;
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		assert_false(
			accepted_with(fields, SAMPLES_CPU_TIME_UNIT, 1, &refused[i]));
}

static void chains_deeper_than_the_limit_are_refused(void **state)
{
	struct fields *fields = *state;

	set_column(fields, SAMPLES_STACK, 3, (uint64_t[]){0, 0, 0});
	set_column(fields, SAMPLES_DROP, 1, (uint64_t[]){0});
	/* 0 that calls itself */
	set_column(fields, SAMPLES_CALL, 1, (uint64_t[]){0});
	set_column(fields, SAMPLES_CALL_LOW, 2, (uint64_t[]){0, 0});
	buffer_reset(&fields->field[SAMPLES_KNOWN]);
	for (uint64_t depth = 1; depth < RECORDING_MAX_DEPTH + 3; depth++) {
		set_number(fields, SAMPLES_NODES, depth);
		set_column(fields, SAMPLES_GROWTH, 1, (uint64_t[]){2 * depth});
		assert_int_equal(accepted(fields), depth <= RECORDING_MAX_DEPTH);
		buffer_put_varint(&fields->field[SAMPLES_KNOWN], 1);
	}
}

static void pauses_outside_the_buckets_are_refused(void **state)
{
	static const uint64_t last[] = {PAUSES_BUCKETS - 1, 7};
	static const uint64_t beyond[] = {PAUSES_BUCKETS, 7};
	static const uint64_t far_beyond[] = {UINT64_MAX, 7};
	static const uint64_t in_steps[] = {PAUSES_BUCKETS - 1, 7, 1, 7};
	static const uint64_t half[] = {100};

	assert_true(accepted_with(*state, SAMPLES_PAUSES, 2, last));
	assert_false(accepted_with(*state, SAMPLES_PAUSES, 2, beyond));
	assert_false(accepted_with(*state, SAMPLES_PAUSES, 2, far_beyond));
	assert_false(accepted_with(*state, SAMPLES_PAUSES, 4, in_steps));
	assert_false(accepted_with(*state, SAMPLES_PAUSES, 1, half));
	assert_true(accepted_with(*state, SAMPLES_PAUSES, 0, NULL));
}

static void a_number_that_is_none_is_refused(void **state)
{
	static const unsigned int numbers[] = {
		SAMPLES_COUNT,	   SAMPLES_BASE_TIME, SAMPLES_NODES,
		SAMPLES_LOST,	   SAMPLES_MISSED,    SAMPLES_CPU_TIME_UNIT,
		SAMPLES_PAUSE_SUM, SAMPLES_PAUSE_MAX,
	};
	struct fields *fields = *state;

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct buffer *field = &fields->field[numbers[i]];
		struct buffer kept = *field;

		*field = (struct buffer){0};
		assert_false(accepted(fields));
		buffer_put(field, "\xff", 1);
		assert_false(accepted(fields));
		buffer_free(field);
		*field = kept;
	}
}

/* Decodes what a hostile file gets for next to nothing: it compresses. */
static bool many_are_accepted(struct fields *fields)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	bool decoded;

	put_fields(fields, &payload);
	decoded = decode(cursor_of(&payload), &batch);
	assert_true(batch.sample_capacity <= RECORDING_MAX_SAMPLES);
	assert_true(batch.node_capacity <= RECORDING_MAX_NODES + SAMPLES_ROOTS);
	buffer_free(&payload);
	samples_batch_free(&batch);
	return decoded;
}

static void a_chunk_of_more_samples_than_the_limit_is_refused(void **state)
{
	struct fields *fields = *state;

	for (unsigned int tag = SAMPLES_DOMAIN; tag <= SAMPLES_WEIGHT; tag++)
		fields->missing[tag] = true;
	fields->missing[SAMPLES_CPU_TIME] = fields->missing[SAMPLES_FRAMELESS] = true;
	for (uint32_t i = 0; i <= RECORDING_MAX_SAMPLES; i++) {
		buffer_put_varint(&fields->field[SAMPLES_TIME], 0);
		buffer_put_varint(&fields->field[SAMPLES_STACK], 0);
	}
	set_number(fields, SAMPLES_COUNT, RECORDING_MAX_SAMPLES);
	assert_true(many_are_accepted(fields));
	set_number(fields, SAMPLES_COUNT, RECORDING_MAX_SAMPLES + 1);
	assert_false(many_are_accepted(fields));
}

static void a_chunk_of_more_nodes_than_the_limit_is_refused(void **state)
{
	struct fields *fields = *state;

	/* All of them are outermost frames of whole chains. */
	set_column(fields, SAMPLES_DROP, 1, (uint64_t[]){0});
	set_column(fields, SAMPLES_GROWTH, 1, (uint64_t[]){2});
	buffer_reset(&fields->field[SAMPLES_NEAR]);
	for (uint32_t i = 1; i < RECORDING_MAX_NODES; i++) {
		buffer_put_varint(&fields->field[SAMPLES_DROP], 1);
		buffer_put_varint(&fields->field[SAMPLES_GROWTH], 0);
		buffer_put_varint(&fields->field[SAMPLES_NEAR], 0);
	}
	set_number(fields, SAMPLES_NODES, RECORDING_MAX_NODES);
	assert_true(many_are_accepted(fields));
	buffer_put_varint(&fields->field[SAMPLES_DROP], 1);
	buffer_put_varint(&fields->field[SAMPLES_GROWTH], 0);
	buffer_put_varint(&fields->field[SAMPLES_NEAR], 0);
	set_number(fields, SAMPLES_NODES, RECORDING_MAX_NODES + 1);
	assert_false(many_are_accepted(fields));
}

static void no_payload_cut_short_or_changed_does_harm(void **state)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	unsigned int refused = 0;

	put_fields(*state, &payload);
	for (size_t i = 0; i < payload.size; i++) {
		struct cursor cursor = {payload.data, payload.data + i, false};

		refused += !decode(cursor, &batch);
		for (unsigned int change = 1; change < 256; change++) {
			payload.data[i] ^= change;
			refused += !decode(cursor_of(&payload), &batch);
			payload.data[i] ^= change;
		}
	}
	assert_true(refused > payload.size * 100);
	assert_true(decode(cursor_of(&payload), &batch));
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void no_random_payload_does_harm(void **state)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	uint64_t seed = 5;
	unsigned int decoded = 0;

	(void)state;
	for (unsigned int round = 0; round < 100000; round++) {
		buffer_reset(&payload);
		for (unsigned int tag = 0; tag < SAMPLES_PAUSE_MAX + 2; tag++) {
			uint8_t bytes[24];
			size_t size = random_next(&seed) % sizeof(bytes);

			for (size_t i = 0; i < size; i++)
				bytes[i] = random_next(&seed) & 0x1f;
			if (random_next(&seed) % 8)
				field_put(&payload, tag, bytes, size);
		}
		decoded += decode(cursor_of(&payload), &batch);
	}
	assert_true(decoded > 100 && decoded < 90000);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

int main(void)
{
	alarm(300);
#define TEST(name) cmocka_unit_test_setup_teardown(name, fields_setup, fields_teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_chunk_made_by_hand_is_read_as_meant),
		TEST(absent_columns_hold_their_defaults),
		TEST(columns_that_samples_need_must_be_there),
		TEST(counts_larger_than_their_columns_are_refused),
		TEST(columns_with_enough_bytes_but_too_few_numbers_are_refused),
		TEST(numbers_beyond_the_limits_are_refused),
		TEST(callees_are_known_or_near_known_ones),
		TEST(a_callee_that_is_not_known_is_refused),
		TEST(a_chain_has_a_root_and_only_nodes_that_there_are),
		TEST(there_are_not_many_more_chains_than_nodes),
		TEST(stacks_are_numbered_in_two_parts),
		TEST(times_are_of_as_many_samples_as_there_are),
		TEST(cpu_times_keep_to_their_limit_in_any_unit),
		TEST(chains_deeper_than_the_limit_are_refused),
		TEST(pauses_outside_the_buckets_are_refused),
		TEST(a_number_that_is_none_is_refused),
		TEST(a_chunk_of_more_samples_than_the_limit_is_refused),
		TEST(a_chunk_of_more_nodes_than_the_limit_is_refused),
		TEST(no_payload_cut_short_or_changed_does_harm),
		TEST(no_random_payload_does_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
