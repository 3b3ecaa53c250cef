/* SPDX-License-Identifier: BSD-3-Clause */

/* Chunks of samples: encoded samples are decoded unchanged. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

/* An encoder, a batch, and the payload between them. */
struct codec {
	struct samples_encoder *encoder;
	struct sampling_counts counts;
	struct buffer payload;
	struct samples_batch batch;
};

static int codec_setup(void **state)
{
	struct codec *codec = calloc(1, sizeof(*codec));

	if (!codec)
		return -1;
	codec->encoder = samples_encoder_new();
	*state = codec;
	return codec->encoder ? 0 : -1;
}

static int codec_teardown(void **state)
{
	struct codec *codec = *state;

	samples_encoder_free(codec->encoder);
	buffer_free(&codec->payload);
	samples_batch_free(&codec->batch);
	free(codec);
	return 0;
}

static void encode(struct codec *codec, const struct sample *samples, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(samples_encoder_add(codec->encoder, &samples[i]), 0);
	assert_int_equal(samples_encoder_count(codec->encoder), count);
	buffer_reset(&codec->payload);
	samples_encoder_finish(codec->encoder, &codec->counts, &codec->payload);
	assert_false(codec->payload.failed);
	assert_int_equal(samples_encoder_count(codec->encoder), 0);
}

/* Encodes and decodes the samples, and expects equal ones. */
static void expect_round_trip(struct codec *codec, const struct sample *samples,
			      size_t count)
{
	encode(codec, samples, count);
	assert_int_equal(samples_decode(cursor_of(&codec->payload), &codec->batch), 0);
	expect_samples(&codec->batch, samples, count);
	assert_memory_equal(&codec->batch.counts, &codec->counts, sizeof(codec->counts));
}

static bool payload_has(const struct codec *codec, enum samples_tag tag)
{
	struct cursor cursor = cursor_of(&codec->payload);
	struct field field;

	while (field_next(&cursor, &field))
		if (field.tag == tag)
			return true;
	return false;
}

static void an_empty_chunk_round_trips(void **state)
{
	struct codec *codec = *state;

	expect_round_trip(codec, NULL, 0);
	assert_int_equal(codec->batch.nodes, SAMPLES_ROOTS);
}

static void counts_and_pauses_round_trip(void **state)
{
	struct codec *codec = *state;

	codec->counts.lost = UINT64_MAX;
	codec->counts.missed = 12345678901234;
	codec->counts.links[LINK_PROVEN] = 1000000;
	codec->counts.links[LINK_POSSIBLE] = 2;
	codec->counts.links[LINK_IMPOSSIBLE] = UINT64_MAX;
	codec->counts.links[LINK_UNKNOWN] = 1;
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i += 1 + i % 5)
		pauses_add(&codec->counts.pauses, pauses_bucket_start(i));
	pauses_add(&codec->counts.pauses, UINT64_MAX);
	expect_round_trip(codec, NULL, 0);
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++)
		pauses_add(&codec->counts.pauses, pauses_bucket_start(i));
	expect_round_trip(codec, NULL, 0);
}

static void chains_of_every_depth_and_end_round_trip(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(CHAIN_MAX + 1);

	for (unsigned int first = 0; first < CHAIN_ENDS; first++) {
		for (size_t i = 0; i < samples.count; i++) {
			struct chain *chain = &samples.at[i].chain;

			chain->count = (uint32_t)i;
			chain->end = (first + i) % CHAIN_ENDS;
			for (uint32_t j = 0; j < chain->count; j++)
				chain->address[j] = (uint64_t)(i * j) << j % 40;
		}
		expect_round_trip(codec, samples.at, samples.count);
	}
	samples_free(&samples);
}

static void extreme_values_round_trip(void **state)
{
	static const uint64_t extremes[] = {
		0, 1, INT64_MAX, (uint64_t)1 << 63, UINT64_MAX - 1, UINT64_MAX};
	struct codec *codec = *state;
	struct samples samples = samples_new(6 * 6 * 6);

	for (size_t i = 0; i < samples.count; i++) {
		struct sample *sample = &samples.at[i];

		sample->time = extremes[i % 6];
		sample->chain.address[0] = extremes[i / 6 % 6];
		sample->chain.address[1] = extremes[i / 36 % 6];
		sample->chain.count = 2;
		sample->domain = i % 2 ? RECORDING_MAX_DOMAIN : 0;
		sample->vcpu = i % 3 ? RECORDING_MAX_VCPU : 0;
		sample->state = i % 5 ? UINT8_MAX : 0;
		sample->weight = i % 7 ? RECORDING_MAX_WEIGHT : 1;
		sample->chain.frameless = i % 11 == 0;
		sample->chain.is_stack = i % 11 == 5;
		sample->has_cpu_time = true;
		if (i % 4)
			sample->cpu_time = RECORDING_MAX_CPU_TIME;
		sample->exit = extremes[i % 6] & EXIT_MAX;
		sample->process.space = extremes[i % 5];
		sample->process.pid = (uint32_t)extremes[i % 3];
		memset(sample->process.comm, 0xff, i % RECORDING_COMM);
		sample->process.tid = extremes[i / 3 % 6];
		memset(sample->process.thread, 0xff, (i + 7) % RECORDING_COMM);
	}
	expect_round_trip(codec, samples.at, samples.count);
	samples_free(&samples);
}

static void random_samples_round_trip(void **state)
{
	struct codec *codec = *state;
	uint64_t seed = 1;

	for (unsigned int round = 0; round < 300; round++) {
		uint64_t what = random_next(&seed);
		struct samples samples = likely_samples(random_next(&seed) % 200, &seed);

		for (size_t i = 0; i < samples.count; i++) {
			struct sample *sample = &samples.at[i];

			if (what & 1)
				sample->time = random_next(&seed);
			if (what & 2)
				sample->domain = random_next(&seed) & 0xffff;
			if (what & 4)
				sample->vcpu = random_next(&seed) & RECORDING_MAX_VCPU;
			if (what & 8)
				sample->weight = 1 + random_next(&seed) %
							     RECORDING_MAX_WEIGHT;
			sample->chain.frameless = what & 128 && random_next(&seed) & 1;
			sample->chain.is_stack = what & 128 && !sample->chain.frameless;
			if (what & 256)
				sample->process.space = random_next(&seed) >>
							random_next(&seed) % 64;
			if (what & 512)
				sample->process.space = random_next(&seed) % 3 << 12;
			if (what & 1024)
				sample->process.pid = random_next(&seed) % 3;
			if (what & 2048)
				sample->process.comm[0] = "ab"[random_next(&seed) % 3];
			if (what & 4096)
				sample->process.tid = random_next(&seed) % 3;
			if (what & 8192)
				sample->process.thread[0] = "ab"[random_next(&seed) % 3];
			sample->has_cpu_time = what & 64;
			if (what & 64)
				sample->cpu_time = random_next(&seed) >>
						   (11 + random_next(&seed) % 53);
			if (what & 16)
				sample->chain.count = random_next(&seed) % 257;
			for (uint32_t j = 0; what & 48 && j < CHAIN_MAX; j++)
				sample->chain.address[j] = random_next(&seed) >>
							   (what & 32 ? 58 : 0);
		}
		codec->counts.lost = random_next(&seed) >> random_next(&seed) % 64;
		pauses_add(&codec->counts.pauses,
			   random_next(&seed) >> (8 + random_next(&seed) % 56));
		expect_round_trip(codec, samples.at, samples.count);
		samples_free(&samples);
	}
}

static void times_can_go_backwards(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(100);

	for (size_t i = 0; i < samples.count; i++)
		samples.at[i].time = 1000000 - i * i;
	expect_round_trip(codec, samples.at, samples.count);
	samples_free(&samples);
}

static void chunks_are_independent(void **state)
{
	struct codec *codec = *state;
	uint64_t seed = 2;
	struct samples samples = likely_samples(50, &seed);
	struct buffer first = {0};

	encode(codec, samples.at, samples.count);
	buffer_put(&first, codec->payload.data, codec->payload.size);
	samples.at[0].domain = 1;
	samples.at[0].weight = 2;
	expect_round_trip(codec, samples.at, samples.count);
	samples.at[0].domain = 0;
	samples.at[0].weight = 1;
	encode(codec, samples.at, samples.count);
	assert_int_equal(codec->payload.size, first.size);
	assert_memory_equal(codec->payload.data, first.data, first.size);
	buffer_free(&first);
	samples_free(&samples);
}

static void a_reused_batch_contains_only_its_own_samples(void **state)
{
	struct codec *codec = *state;
	uint64_t seed = 3;
	struct samples large = likely_samples(500, &seed);
	struct samples small = likely_samples(5, &seed);

	expect_round_trip(codec, large.at, large.count);
	expect_round_trip(codec, small.at, small.count);
	expect_round_trip(codec, NULL, 0);
	expect_round_trip(codec, large.at, large.count);
	samples_free(&large);
	samples_free(&small);
}

static void columns_of_defaults_are_omitted(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(2);

	expect_round_trip(codec, samples.at, 2);
	assert_false(payload_has(codec, SAMPLES_DOMAIN));
	assert_false(payload_has(codec, SAMPLES_WEIGHT));
	samples.at[1].domain = 1;
	expect_round_trip(codec, samples.at, 2);
	assert_true(payload_has(codec, SAMPLES_DOMAIN));
	assert_false(payload_has(codec, SAMPLES_WEIGHT));
	samples.at[0].weight = 2;
	samples.at[1].domain = 0;
	expect_round_trip(codec, samples.at, 2);
	assert_false(payload_has(codec, SAMPLES_DOMAIN));
	assert_true(payload_has(codec, SAMPLES_WEIGHT));
	samples_free(&samples);
}

static void address_spaces_are_listed_once(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(300);

	expect_round_trip(codec, samples.at, samples.count);
	assert_false(payload_has(codec, SAMPLES_SPACES));
	for (size_t i = 0; i < samples.count; i++)
		samples.at[i].process.space = 0xfffffffffffff000;
	expect_round_trip(codec, samples.at, samples.count);
	assert_true(payload_has(codec, SAMPLES_SPACES));
	assert_false(payload_has(codec, SAMPLES_SPACE));
	assert_int_equal(codec->batch.process_count, 1);
	for (size_t i = 0; i < samples.count; i++)
		samples.at[i].process.space = i % 200 << 12;
	expect_round_trip(codec, samples.at, samples.count);
	assert_int_equal(codec->batch.process_count, 200);
	assert_false(payload_has(codec, SAMPLES_PID));
	assert_false(payload_has(codec, SAMPLES_COMM));
	/* Later, another process has the address space. */
	for (size_t i = 0; i < samples.count; i++) {
		samples.at[i].process.pid = i < 150 ? 7 : 8;
		strcpy(samples.at[i].process.comm, i < 250 ? "sh" : "nginx");
	}
	expect_round_trip(codec, samples.at, samples.count);
	assert_int_equal(codec->batch.process_count, 300);
	memset(&samples.at[0].process, 0, sizeof(samples.at[0].process));
	/* The next chunk has its own list. */
	expect_round_trip(codec, samples.at, 1);
	assert_false(payload_has(codec, SAMPLES_SPACES));
	samples_free(&samples);
}

static void a_cpu_time_of_0_is_not_an_unknown_one(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(2);

	expect_round_trip(codec, samples.at, 2);
	assert_false(payload_has(codec, SAMPLES_CPU_TIME));
	samples.at[0].has_cpu_time = samples.at[1].has_cpu_time = true;
	expect_round_trip(codec, samples.at, 2);
	assert_true(payload_has(codec, SAMPLES_CPU_TIME));
	/* If some CPU times are unknown, the chunk has no column of CPU times. */
	samples.at[0].has_cpu_time = false;
	samples.at[1].cpu_time = 50000;
	encode(codec, samples.at, 2);
	assert_false(payload_has(codec, SAMPLES_CPU_TIME));
	/* The next chunk is not affected. */
	samples.at[0].has_cpu_time = true;
	expect_round_trip(codec, samples.at, 2);
	samples_free(&samples);
}

static void cpu_times_are_limited(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(2);

	samples.at[0].has_cpu_time = samples.at[1].has_cpu_time = true;
	samples.at[0].cpu_time = 19999;
	samples.at[1].cpu_time = UINT64_MAX;
	encode(codec, samples.at, 2);
	assert_int_equal(samples_decode(cursor_of(&codec->payload), &codec->batch), 0);
	assert_int_equal(codec->batch.cpu_time[0], 19999);
	assert_int_equal(codec->batch.cpu_time[1], RECORDING_MAX_CPU_TIME);
	samples_free(&samples);
}

static uint64_t number_in(const struct codec *codec, enum samples_tag tag)
{
	struct cursor cursor = cursor_of(&codec->payload);
	struct field field;

	while (field_next(&cursor, &field))
		if (field.tag == tag)
			return cursor_varint(&field.bytes);
	return 0;
}

static void times_are_in_their_largest_common_unit(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(8);

	for (size_t i = 0; i < samples.count; i++) {
		samples.at[i].time = 5000000007 + i * 4000 - i % 2 * 2000;
		samples.at[i].state = i % 4 ? VCPU_RUNNING : VCPU_BLOCKED;
		samples.at[i].has_cpu_time = true;
		samples.at[i].cpu_time = i % 4 ? 9 * 700 : i * 700;
	}
	expect_round_trip(codec, samples.at, samples.count);
	assert_int_equal(number_in(codec, SAMPLES_TIME_UNIT), 2000);
	assert_int_equal(number_in(codec, SAMPLES_CPU_TIME_UNIT), 700);
	assert_int_equal(number_in(codec, SAMPLES_CPU_TIME_USUAL), 9);
	samples.at[3].time++;
	samples.at[3].cpu_time++;
	expect_round_trip(codec, samples.at, samples.count);
	assert_int_equal(number_in(codec, SAMPLES_TIME_UNIT), 1);
	assert_int_equal(number_in(codec, SAMPLES_CPU_TIME_UNIT), 1);
	samples_free(&samples);
}

static void equal_chains_are_stored_once_and_callers_are_shared(void **state)
{
	struct codec *codec = *state;
	struct samples samples = samples_new(1000);

	for (size_t i = 0; i < samples.count; i++) {
		struct chain *chain = &samples.at[i].chain;

		for (uint32_t j = 0; j < 20; j++)
			chain->address[j] = 0x401000 + j;
		chain->address[0] += i % 2 * 0x1000; /* two leaves */
		chain->count = 20;
	}
	expect_round_trip(codec, samples.at, samples.count);
	assert_int_equal(codec->batch.nodes, SAMPLES_ROOTS + 21);
	assert_int_equal(codec->batch.stack[0], codec->batch.stack[998]);
	assert_int_not_equal(codec->batch.stack[0], codec->batch.stack[1]);
	assert_int_equal(codec->batch.depth[codec->batch.stack[0]], 20);
	assert_true(codec->payload.size < 1000 * 4 + 21 * 12 + 100);
	samples_free(&samples);
}

/* Copies the payload with its fields in reverse order. */
static void reverse_fields(const struct buffer *payload, struct buffer *reversed)
{
	struct cursor cursor = cursor_of(payload);
	struct field fields[32];
	size_t count = 0;

	while (field_next(&cursor, &fields[count]))
		assert_true(++count < 32);
	while (count-- > 0)
		field_put(reversed, (unsigned int)fields[count].tag,
			  fields[count].bytes.at,
			  (size_t)(fields[count].bytes.end - fields[count].bytes.at));
	field_put(reversed, 99, "unknown", 7);
}

static void fields_can_be_in_any_order_among_unknown_ones(void **state)
{
	struct codec *codec = *state;
	struct buffer reversed = {0};
	uint64_t seed = 4;
	struct samples samples = likely_samples(30, &seed);

	samples.at[3].weight = 5;
	pauses_add(&codec->counts.pauses, 12345);
	encode(codec, samples.at, samples.count);
	reverse_fields(&codec->payload, &reversed);
	assert_int_equal(samples_decode(cursor_of(&reversed), &codec->batch), 0);
	expect_samples(&codec->batch, samples.at, samples.count);
	assert_memory_equal(&codec->batch.counts, &codec->counts, sizeof(codec->counts));
	buffer_free(&reversed);
	samples_free(&samples);
}

/* Adds samples until the chunk is full, and expects it to keep every limit. */
static void expect_full_chunk(struct codec *codec, uint32_t depth, bool random)
{
	struct samples one = samples_new(1);
	struct sample *sample = &one.at[0];
	struct buffer file = {0};
	uint64_t seed = depth;
	size_t count = 0;

	sample->chain.count = depth;
	while (!samples_encoder_full(codec->encoder)) {
		for (uint32_t i = 0; random && i < depth; i++)
			sample->chain.address[i] = random_next(&seed);
		if (random) {
			sample->time = random_next(&seed);
			sample->weight = RECORDING_MAX_WEIGHT;
			sample->domain = RECORDING_MAX_DOMAIN;
			sample->chain.frameless = true;
			sample->process.space = random_next(&seed);
			sample->process.pid = UINT32_MAX;
			memset(sample->process.comm, 0xff, RECORDING_COMM - 1);
			sample->has_cpu_time = true;
			sample->cpu_time = RECORDING_MAX_CPU_TIME;
		}
		assert_int_equal(samples_encoder_add(codec->encoder, sample), 0);
		count++;
	}
	buffer_reset(&codec->payload);
	samples_encoder_finish(codec->encoder, &codec->counts, &codec->payload);
	assert_int_equal(chunk_encode(&file, CHUNK_SAMPLES, &codec->payload), 0);
	assert_int_equal(samples_decode(cursor_of(&codec->payload), &codec->batch), 0);
	assert_int_equal(codec->batch.count, count);
	assert_false(samples_encoder_full(codec->encoder));
	buffer_free(&file);
	samples_free(&one);
}

static void a_full_chunk_is_within_every_limit(void **state)
{
	struct codec *codec = *state;

	memset(codec->counts.pauses.bucket, 0xff, sizeof(codec->counts.pauses.bucket));
	expect_full_chunk(codec, 0, false);
	expect_full_chunk(codec, 1, false);
	expect_full_chunk(codec, CHAIN_MAX, false);
	expect_full_chunk(codec, 0, true);
	expect_full_chunk(codec, 1, true);
	expect_full_chunk(codec, 3, true);
	expect_full_chunk(codec, CHAIN_MAX, true);
}

int main(void)
{
	alarm(300);
#define TEST(name) cmocka_unit_test_setup_teardown(name, codec_setup, codec_teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_empty_chunk_round_trips),
		TEST(counts_and_pauses_round_trip),
		TEST(chains_of_every_depth_and_end_round_trip),
		TEST(extreme_values_round_trip),
		TEST(random_samples_round_trip),
		TEST(times_can_go_backwards),
		TEST(chunks_are_independent),
		TEST(a_reused_batch_contains_only_its_own_samples),
		TEST(columns_of_defaults_are_omitted),
		TEST(address_spaces_are_listed_once),
		TEST(a_cpu_time_of_0_is_not_an_unknown_one),
		TEST(cpu_times_are_limited),
		TEST(times_are_in_their_largest_common_unit),
		TEST(equal_chains_are_stored_once_and_callers_are_shared),
		TEST(fields_can_be_in_any_order_among_unknown_ones),
		TEST(a_full_chunk_is_within_every_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
