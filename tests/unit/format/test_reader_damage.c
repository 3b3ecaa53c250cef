/* SPDX-License-Identifier: BSD-3-Clause */

/* The reader with damaged recordings: intact chunks are found, whatever surrounds them.
 */

#define _GNU_SOURCE 1
#include "tests/unit/format/test_reader.h"

#include <zstd.h>

static void a_changed_byte_loses_only_its_chunk(void **state)
{
	static const uint8_t changes[] = {0x01, 0x02, 0x10, 0x40, 0x80, 0x55, 0xff};
	struct recording *recording = *state;
	struct outcome outcome = {0};
	size_t chunk = 0;

	for (size_t i = 0; i < recording->bytes.size; i++) {
		if (i == recording->start[chunk + 1])
			chunk++;
		for (size_t j = 0; j < sizeof(changes); j++) {
			recording->bytes.data[i] ^= changes[j];
			read_bytes(recording->bytes.data, recording->bytes.size,
				   &outcome);
			recording->bytes.data[i] ^= changes[j];
			expect_all_but(&outcome, recording, chunk, 1,
				       recording->start[chunk + 1] -
					       recording->start[chunk]);
			assert_false(outcome.damage.cut);
		}
	}
	assert_int_equal(chunk, CHUNKS - 1);
	outcome_free(&outcome);
}

static void a_missing_byte_loses_at_most_two_chunks(void **state)
{
	struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer shorter = {0};
	size_t chunk = 0;

	for (size_t i = 0; i < recording->bytes.size; i++) {
		size_t missing;

		if (i == recording->start[chunk + 1])
			chunk++;
		buffer_reset(&shorter);
		buffer_put(&shorter, recording->bytes.data, i);
		buffer_put(&shorter, recording->bytes.data + i + 1,
			   recording->bytes.size - i - 1);
		read_bytes(shorter.data, shorter.size, &outcome);
		missing = CHUNKS - outcome.count;
		assert_true(missing == 1 || (missing == 2 && chunk + 1 < CHUNKS));
		expect_all_but(&outcome, recording, chunk, missing,
			       recording->start[chunk + missing] -
				       recording->start[chunk] - 1);
	}
	buffer_free(&shorter);
	outcome_free(&outcome);
}

static void an_extra_byte_loses_only_its_chunk(void **state)
{
	struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer longer = {0};
	size_t chunk = 0;

	for (size_t i = 1; i < recording->bytes.size; i++) {
		uint8_t other = recording->bytes.data[i] ^ 0x01;

		if (i == recording->start[chunk + 1]) {
			chunk++;
			continue; /* junk between two chunks costs no chunk */
		}
		buffer_reset(&longer);
		buffer_put(&longer, recording->bytes.data, i);
		buffer_put(&longer, &other, 1);
		buffer_put(&longer, recording->bytes.data + i, recording->bytes.size - i);
		read_bytes(longer.data, longer.size, &outcome);
		expect_all_but(&outcome, recording, chunk, 1,
			       recording->start[chunk + 1] - recording->start[chunk] + 1);
	}
	buffer_free(&longer);
	outcome_free(&outcome);
}

/* The file of a recorder killed at any moment. */
static void a_truncated_recording_is_complete_up_to_its_end(void **state)
{
	struct recording *recording = *state;
	struct outcome outcome = {0};
	size_t chunk = 0;

	for (size_t size = 0; size < recording->bytes.size; size++) {
		size_t rest;

		if (size == recording->start[chunk + 1])
			chunk++;
		rest = size - recording->start[chunk];
		read_bytes(recording->bytes.data, size, &outcome);
		assert_int_equal(outcome.status, chunk ? 0 : -1);
		assert_int_equal(outcome.count, chunk);
		expect_chunks(&outcome, 0, recording, 0, chunk);
		assert_int_equal(outcome.damage.bytes, rest);
		assert_int_equal(outcome.damage.places, rest ? 1 : 0);
		assert_int_equal(outcome.damage.cut, rest ? 1 : 0);
		if (rest)
			assert_int_equal(outcome.damage.first, recording->start[chunk]);
	}
	outcome_free(&outcome);
}

/* Reads the recording with junk of a given size before, after, and between its chunks. */
static void expect_among_junk(const struct recording *recording, const void *junk,
			      size_t size)
{
	struct outcome outcome = {0};
	struct buffer bytes = {0};

	for (size_t i = 0; i < CHUNKS; i++) {
		buffer_put(&bytes, junk, size);
		buffer_put(&bytes, recording->bytes.data + recording->start[i],
			   recording->start[i + 1] - recording->start[i]);
	}
	buffer_put(&bytes, junk, size);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.count, CHUNKS);
	expect_chunks(&outcome, 0, recording, 0, CHUNKS);
	assert_int_equal(outcome.damage.bytes, size * (CHUNKS + 1));
	assert_int_equal(outcome.damage.places, CHUNKS + 1);
	assert_int_equal(outcome.damage.first, 0);
	assert_false(outcome.damage.cut);
	buffer_free(&bytes);
	outcome_free(&outcome);
}

static void junk_around_chunks_is_skipped_and_counted(void **state)
{
	const struct recording *recording = *state;
	uint8_t junk[70000];
	uint64_t seed = 7;

	for (size_t i = 0; i < sizeof(junk); i++)
		junk[i] = (uint8_t)random_next(&seed);
	junk[0] = 0;
	for (size_t size = 1; size < 60; size++)
		expect_among_junk(recording, junk, size);
	expect_among_junk(recording, junk, sizeof(junk));
	memset(junk, CHUNK_MAGIC[0], sizeof(junk));
	junk[sizeof(junk) - 1] = 0;
	expect_among_junk(recording, junk, sizeof(junk));
	/* A header without its payload is also junk. */
	memset(junk, 0, 100);
	memcpy(junk, recording->bytes.data, 23);
	expect_among_junk(recording, junk, 100);
}

static void a_recording_can_start_after_a_damaged_chunk(void **state)
{
	const struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer bytes = {0};

	memset(buffer_extend(&bytes, LARGEST), 'x', LARGEST);
	buffer_put(&bytes, recording->bytes.data, recording->bytes.size);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	expect_chunks(&outcome, 0, recording, 0, CHUNKS);
	assert_int_equal(outcome.damage.bytes, LARGEST);

	/* After two more reads, the search is over. */
	buffer_reset(&bytes);
	memset(buffer_extend(&bytes, LARGEST + (1 << 20)), 1, LARGEST + (1 << 20));
	buffer_put(&bytes, recording->bytes.data, recording->bytes.size);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, -1);
	assert_int_equal(outcome.count, 0);
	assert_string_equal(outcome.err.text, "not a uniprof recording");
	buffer_free(&bytes);
	outcome_free(&outcome);
}

static void two_recordings_in_one_file_are_both_read(void **state)
{
	const struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer bytes = {0};

	buffer_put(&bytes, recording->bytes.data, recording->bytes.size);
	buffer_put(&bytes, recording->bytes.data, recording->bytes.size);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.count, 2 * CHUNKS);
	expect_chunks(&outcome, 0, recording, 0, CHUNKS);
	expect_chunks(&outcome, CHUNKS, recording, 0, CHUNKS);
	assert_int_equal(outcome.damage.bytes, 0);
	buffer_free(&bytes);
	outcome_free(&outcome);
}

static void chunks_after_a_truncated_one_are_found(void **state)
{
	const struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer bytes = {0}, half = {0};

	/* A header whose stored size is larger than the rest of the file. */
	fill_random(&half, 100000);
	put_plain_chunk(&bytes, CHUNK_SAMPLES, &half);
	bytes.size = 1000;
	buffer_put(&bytes, recording->bytes.data, recording->bytes.size);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.count, CHUNKS);
	expect_chunks(&outcome, 0, recording, 0, CHUNKS);
	assert_int_equal(outcome.damage.bytes, 1000);
	assert_int_equal(outcome.damage.places, 1);
	assert_false(outcome.damage.cut);
	buffer_free(&bytes);
	buffer_free(&half);
	outcome_free(&outcome);
}

static void chunks_that_cannot_be_decoded_are_skipped_and_counted(void **state)
{
	const struct recording *recording = *state;
	size_t room = ZSTD_compressBound(32 << 20), packed;
	char *plain = calloc(1, 32 << 20), *bomb = malloc(room);
	struct outcome outcome = {0};
	struct buffer bytes = {0};
	size_t bad;

	assert_true(plain && bomb);
	packed = ZSTD_compress(bomb, room, plain, 32 << 20, 3);
	assert_false(ZSTD_isError(packed));
	buffer_put(&bytes, recording->bytes.data, recording->start[1]);
	put_chunk(&bytes, CHUNK_INFO, 2, "unknown encoding", 16, 16);
	put_chunk(&bytes, CHUNK_SAMPLES, CHUNK_ZSTD, "not zstd", 8, 100);
	put_chunk(&bytes, CHUNK_SAMPLES, CHUNK_ZSTD, bomb, (uint32_t)packed,
		  RECORDING_MAX_PAYLOAD);
	put_chunk(&bytes, CHUNK_SAMPLES, CHUNK_PLAIN, "other size", 10, 9);
	bad = bytes.size - recording->start[1];
	buffer_put(&bytes, recording->bytes.data + recording->start[1],
		   recording->bytes.size - recording->start[1]);
	read_bytes(bytes.data, bytes.size, &outcome);
	expect_all_but(&outcome, recording, 1, 0, bad);
	free(plain);
	free(bomb);
	buffer_free(&bytes);
	outcome_free(&outcome);
}

/* Each header makes the reader read 16 MiB ahead. It may do that once for all headers
 * together; once for each header would take hours. */
static void many_headers_take_a_bounded_time(void **state)
{
	const struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer bytes = {0}, header = {0}, large = {0};

	fill_random(&large, RECORDING_MAX_STORED);
	put_plain_chunk(&header, CHUNK_SAMPLES, &large);
	buffer_put(&bytes, recording->bytes.data, recording->bytes.size);
	while (bytes.size < RECORDING_MAX_STORED)
		buffer_put(&bytes, header.data, CHUNK_HEADER_SIZE);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.count, CHUNKS);
	assert_int_equal(outcome.damage.bytes, bytes.size - recording->bytes.size);
	assert_true(outcome.damage.cut);
	buffer_free(&bytes);
	buffer_free(&header);
	buffer_free(&large);
	outcome_free(&outcome);
}

int main(void)
{
	alarm(600);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_changed_byte_loses_only_its_chunk),
		cmocka_unit_test(a_missing_byte_loses_at_most_two_chunks),
		cmocka_unit_test(an_extra_byte_loses_only_its_chunk),
		cmocka_unit_test(a_truncated_recording_is_complete_up_to_its_end),
		cmocka_unit_test(junk_around_chunks_is_skipped_and_counted),
		cmocka_unit_test(a_recording_can_start_after_a_damaged_chunk),
		cmocka_unit_test(two_recordings_in_one_file_are_both_read),
		cmocka_unit_test(chunks_after_a_truncated_one_are_found),
		cmocka_unit_test(chunks_that_cannot_be_decoded_are_skipped_and_counted),
		cmocka_unit_test(many_headers_take_a_bounded_time),
	};

	return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
