/* SPDX-License-Identifier: BSD-3-Clause */

/* Chunks of samples not made by the writer: refused, or read within the limits. */

#define _GNU_SOURCE 1
#include "tests/unit/format/test_samples_fields.h"

static void a_handmade_chunk_is_decoded(void **state)
{
	static uint64_t chain[] = {0x2000, 0x1000, 0x1000};
	static const struct sample samples[] = {
		{1000,
		 0,
		 0,
		 1,
		 1,
		 0,
		 true,
		 {chain, 2, CHAIN_WHOLE, true, false},
		 {0x7000, 123, "web", 0, ""},
		 0},
		{1010,
		 1,
		 1,
		 2,
		 2,
		 80000,
		 true,
		 {chain + 2, 1, CHAIN_WHOLE, false, false},
		 {0, 0, "", 0, ""},
		 0x3f82},
		{1020,
		 0,
		 0,
		 3,
		 3,
		 3000000,
		 true,
		 {chain, 0, CHAIN_NOT_CANONICAL, false, true},
		 {0x7000, 123, "web", 0, ""},
		 VMEXIT_HALT},
	};
	struct samples_batch batch = {0};
	struct buffer payload = {0};

	put_fields(*state, &payload);
	assert_true(decode_batch(cursor_of(&payload), &batch));
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

static void missing_columns_have_defaults(void **state)
{
	struct fields *fields = *state;
	struct samples_batch batch = {0};
	struct buffer payload = {0};

	fields->missing[SAMPLES_DOMAIN] = fields->missing[SAMPLES_VCPU] = true;
	fields->missing[SAMPLES_STATE] = fields->missing[SAMPLES_WEIGHT] = true;
	fields->missing[SAMPLES_PAUSES] = fields->missing[SAMPLES_LOST] = true;
	fields->missing[SAMPLES_MISSED] = fields->missing[SAMPLES_BASE_TIME] = true;
	fields->missing[SAMPLES_CPU_TIME] = fields->missing[SAMPLES_CHAIN_KIND] = true;
	fields->missing[SAMPLES_SPACES] = fields->missing[SAMPLES_SPACE] = true;
	fields->missing[SAMPLES_PID] = fields->missing[SAMPLES_COMM] = true;
	fields->missing[SAMPLES_PAUSE_MAX] = fields->missing[SAMPLES_PAUSE_SUM] = true;
	put_fields(fields, &payload);
	assert_true(decode_batch(cursor_of(&payload), &batch));
	assert_int_equal(batch.count, 3);
	assert_false(batch.has_cpu_time);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(batch.time[i], i * 10);
		assert_int_equal(batch.domain[i], 0);
		assert_int_equal(batch.vcpu[i], 0);
		assert_int_equal(batch.state[i], VCPU_UNKNOWN);
		assert_int_equal(batch.weight[i], 1);
		assert_int_equal(batch.cpu_time[i], 0);
		assert_int_equal(batch.chain_kind[i], 0);
		assert_int_equal(batch.processes[batch.process[i]].space, 0);
		assert_int_equal(batch.processes[batch.process[i]].pid, 0);
		assert_string_equal(batch.processes[batch.process[i]].comm, "");
	}
	assert_int_equal(batch.counts.lost + batch.counts.missed, 0);
	assert_int_equal(batch.counts.pauses.count, 0);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void unknown_fields_are_limited(void **state)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};

	(void)state;
	for (unsigned int i = 0; i < FIELDS_MAX; i++)
		field_put(&payload, 99, NULL, 0);
	assert_true(decode_batch(cursor_of(&payload), &batch));
	field_put(&payload, 99, NULL, 0);
	assert_false(decode_batch(cursor_of(&payload), &batch));
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void required_columns_must_be_present(void **state)
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
	/* Without a count, there are no samples. */
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
	/* Extra entries in a column are ignored. */
	assert_true(accepted_with(*state, SAMPLES_COUNT, 1, (uint64_t[]){2}));
}

static void columns_with_too_few_numbers_are_refused(void **state)
{
	static const unsigned int columns[] = {
		SAMPLES_TIME,  SAMPLES_DOMAIN, SAMPLES_VCPU,	 SAMPLES_STATE,
		SAMPLES_STACK, SAMPLES_WEIGHT, SAMPLES_CPU_TIME, SAMPLES_CHAIN_KIND,
		SAMPLES_DROP,  SAMPLES_GROWTH, SAMPLES_KNOWN,	 SAMPLES_CALL,
		SAMPLES_SPACE,
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

static void numbers_above_their_limits_are_refused(void **state)
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
		{SAMPLES_CHAIN_KIND, CHAIN_KINDS - 1},
		{SAMPLES_SPACE, 1},
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

static void address_spaces_must_be_in_the_list(void **state)
{
	static const uint64_t spaces[] = {0x1000, UINT64_MAX, 0x3000, 0x4000};
	struct fields *fields = *state;

	fields->missing[SAMPLES_PID] = fields->missing[SAMPLES_COMM] = true;
	assert_true(accepted_with(fields, SAMPLES_SPACES, 3, spaces));
	/* Entries that no sample needs are ignored. */
	assert_true(accepted_with(fields, SAMPLES_SPACES, 4, spaces));
	assert_false(accepted_with(fields, SAMPLES_SPACE, 3, (uint64_t[]){0, 1, 3}));
	/* Fewer entries than the samples' indexes need are damage. */
	assert_false(accepted_with(fields, SAMPLES_SPACES, 1, spaces));
	assert_false(accepted_with(fields, SAMPLES_SPACES, 0, spaces));
	fields->missing[SAMPLES_SPACES] = true;
	assert_false(accepted(fields));
	fields->missing[SAMPLES_SPACE] = true;
	assert_true(accepted(fields));
	assert_true(accepted_with(fields, SAMPLES_SPACES, 1, spaces));
}

static void exits_have_a_limit(void **state)
{
	struct fields *fields = *state;

	assert_true(accepted_with(fields, SAMPLES_EXIT, 3, (uint64_t[]){0, 1, EXIT_MAX}));
	assert_false(
		accepted_with(fields, SAMPLES_EXIT, 3, (uint64_t[]){0, 1, EXIT_MAX + 1}));
	assert_false(accepted_with(fields, SAMPLES_EXIT, 2, (uint64_t[]){0, 1}));
	fields->missing[SAMPLES_EXIT] = true;
	assert_true(accepted(fields));
}

static bool accepted_with_names(struct fields *fields, const void *names, size_t size)
{
	struct buffer *field = &fields->field[SAMPLES_COMM];

	buffer_reset(field);
	buffer_put(field, names, size);
	return accepted(fields);
}

static void every_process_has_a_pid_and_a_name(void **state)
{
	struct fields *fields = *state;

	assert_true(accepted_with(fields, SAMPLES_PID, 2, (uint64_t[]){0, UINT32_MAX}));
	/* Entries that no process needs are ignored. */
	assert_true(accepted_with(fields, SAMPLES_PID, 3, (uint64_t[]){1, 2, 3}));
	assert_false(accepted_with(fields, SAMPLES_PID, 1, (uint64_t[]){1}));
	assert_false(accepted_with(fields, SAMPLES_PID, 2,
				   (uint64_t[]){0, (uint64_t)UINT32_MAX + 1}));
	set_column(fields, SAMPLES_PID, 2, (uint64_t[]){0, 123});
	assert_true(accepted_with_names(fields,
					"\0\x0f"
					"123456789abcdef",
					17));
	assert_true(accepted_with_names(fields,
					"\x03"
					"a\0b\0",
					5));
	assert_false(accepted_with_names(fields,
					 "\0\x10"
					 "123456789abcdefg",
					 18));
	assert_false(accepted_with_names(fields,
					 "\0\x05"
					 "1234",
					 6));
	assert_false(accepted_with_names(fields, "\0", 1));
	assert_false(accepted_with_names(fields, "", 0));
	fields->missing[SAMPLES_COMM] = true;
	assert_true(accepted(fields));
}

static void times_must_match_the_number_of_samples(void **state)
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
	assert_true(decode_batch(cursor_of(&payload), &batch));
	assert_int_equal(batch.time[0], 1000);
	assert_int_equal(batch.time[1], 1000);
	assert_int_equal(batch.time[2], 1000 + 7 * (5 + 10));
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void cpu_times_above_the_limit_are_refused_in_any_unit(void **state)
{
	static const uint64_t units[] = {1, 3, 10000, RECORDING_MAX_CPU_TIME};
	static const uint64_t refused[] = {0, RECORDING_MAX_CPU_TIME + 1, UINT64_MAX};
	struct fields *fields = *state;

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		uint64_t most = RECORDING_MAX_CPU_TIME / units[i];

		set_number(fields, SAMPLES_CPU_TIME_UNIT, units[i]);
		fields->missing[SAMPLES_CPU_TIME_USUAL] = true;
		/* For a running vCPU, the number is the difference from the usual CPU
		 * time. */
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

static void invalid_numbers_are_refused(void **state)
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

static void a_chunk_with_too_many_samples_is_refused(void **state)
{
	struct fields *fields = *state;

	for (unsigned int tag = SAMPLES_DOMAIN; tag <= SAMPLES_WEIGHT; tag++)
		fields->missing[tag] = true;
	fields->missing[SAMPLES_CPU_TIME] = fields->missing[SAMPLES_CHAIN_KIND] = true;
	fields->missing[SAMPLES_SPACES] = fields->missing[SAMPLES_SPACE] = true;
	fields->missing[SAMPLES_EXIT] = true;
	fields->missing[SAMPLES_PID] = fields->missing[SAMPLES_COMM] = true;
	for (uint32_t i = 0; i <= RECORDING_MAX_SAMPLES; i++) {
		buffer_put_varint(&fields->field[SAMPLES_TIME], 0);
		buffer_put_varint(&fields->field[SAMPLES_STACK], 0);
	}
	set_number(fields, SAMPLES_COUNT, RECORDING_MAX_SAMPLES);
	assert_true(accepted(fields));
	set_number(fields, SAMPLES_COUNT, RECORDING_MAX_SAMPLES + 1);
	assert_false(accepted(fields));
}

static void truncated_and_modified_payloads_are_safe(void **state)
{
	struct samples_batch batch = {0};
	struct buffer payload = {0};
	unsigned int refused = 0;

	put_fields(*state, &payload);
	for (size_t i = 0; i < payload.size; i++) {
		struct cursor cursor = {payload.data, payload.data + i, false};

		refused += !decode_batch(cursor, &batch);
		for (unsigned int change = 1; change < 256; change++) {
			payload.data[i] ^= change;
			refused += !decode_batch(cursor_of(&payload), &batch);
			payload.data[i] ^= change;
		}
	}
	assert_true(refused > payload.size * 100);
	assert_true(decode_batch(cursor_of(&payload), &batch));
	buffer_free(&payload);
	samples_batch_free(&batch);
}

static void random_payloads_are_safe(void **state)
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
		decoded += decode_batch(cursor_of(&payload), &batch);
	}
	assert_true(decoded > 100 && decoded < 90000);
	buffer_free(&payload);
	samples_batch_free(&batch);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		FIELDS_TEST(a_handmade_chunk_is_decoded),
		FIELDS_TEST(missing_columns_have_defaults),
		FIELDS_TEST(unknown_fields_are_limited),
		FIELDS_TEST(required_columns_must_be_present),
		FIELDS_TEST(counts_larger_than_their_columns_are_refused),
		FIELDS_TEST(columns_with_too_few_numbers_are_refused),
		FIELDS_TEST(numbers_above_their_limits_are_refused),
		FIELDS_TEST(address_spaces_must_be_in_the_list),
		FIELDS_TEST(exits_have_a_limit),
		FIELDS_TEST(every_process_has_a_pid_and_a_name),
		FIELDS_TEST(times_must_match_the_number_of_samples),
		FIELDS_TEST(cpu_times_above_the_limit_are_refused_in_any_unit),
		FIELDS_TEST(pauses_outside_the_buckets_are_refused),
		FIELDS_TEST(invalid_numbers_are_refused),
		FIELDS_TEST(a_chunk_with_too_many_samples_is_refused),
		FIELDS_TEST(truncated_and_modified_payloads_are_safe),
		FIELDS_TEST(random_payloads_are_safe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
