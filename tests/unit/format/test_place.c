/* SPDX-License-Identifier: BSD-3-Clause */

/* The places of chunks: which chunks belong to a recording, and which are missing. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/place.h"

static struct cursor cursor_over(const struct buffer *payload)
{
	return (struct cursor){payload->data, payload->data + payload->size, false};
}

static void a_place_comes_back(void **state)
{
	static const uint64_t numbers[] = {0, 1, 127, 128, UINT32_MAX, UINT64_MAX};
	struct buffer payload = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct chunk_place place;

		buffer_reset(&payload);
		place_put(&payload, numbers[i], ~numbers[i]);
		field_put_number(&payload, 1, 7);
		place = place_of(cursor_over(&payload));
		assert_true(place.is_known);
		assert_int_equal(place.mark, numbers[i]);
		assert_int_equal(place.number, ~numbers[i]);
	}
	buffer_free(&payload);
}

static void only_a_whole_first_field_is_a_place(void **state)
{
	static const struct {
		const char *bytes;
		size_t size;
	} others[] = {
		{"", 0},
		{"\x01\x01\x05", 3},
		{"\x01\x00\x00\x02\x01\x02", 6}, /* the place is not the first field */
		{"\x00\x00", 2},
		{"\x00\x01\x05", 3},
		{"\x00\x02\x05\x80", 4},
		{"\x00\x03\x05\x01", 4},
		{"\x00", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		const uint8_t *bytes = (const uint8_t *)others[i].bytes;
		const struct cursor payload = {bytes, bytes + others[i].size, false};

		assert_false(place_of(payload).is_known);
	}
}

/* The steps are the places of consecutive chunks, and the expected results. */
static void chunks_are_compared_with_those_before(void **state)
{
	static const struct {
		struct chunk_place place;
		bool is_taken;
		uint64_t missing;
	} steps[] = {
		{{false, 0, 0}, true, 0}, /* no chunk has a place yet */
		{{true, 5, 2}, true, 2},
		{{true, 5, 3}, true, 0},
		{{true, 5, 3}, false, 0}, /* repeated */
		{{true, 5, 0}, false, 0},
		{{true, 6, 4}, false, 0}, /* of another recording */
		{{false, 0, 0}, false, 0},
		{{true, 5, 4}, true, 0},
		{{true, 5, 10}, true, 5},
		{{true, 5, 9}, false, 0}, /* moved */
		{{true, 5, UINT64_MAX}, true, UINT64_MAX - 11},
		{{true, 5, 11}, false, 0},
	};
	struct sequence sequence = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		uint64_t missing;

		assert_int_equal(sequence_take(&sequence, &steps[i].place, &missing),
				 steps[i].is_taken);
		assert_int_equal(missing, steps[i].missing);
	}
}

/* A recording's chunks are numbered in order. */
static void the_writer_numbers_all_chunks(void **state)
{
	uint64_t seed = 1, missing;
	struct samples samples = likely_samples(40, &seed);
	struct sequence sequence = {0};
	struct buffer bytes = {0};
	struct reader *reader;
	struct cursor payload;
	unsigned int type;
	struct error err;
	int fd;

	(void)state;
	record(&samples, 3, &bytes);
	fd = file_with(bytes.data, bytes.size);
	reader = reader_new(fd);
	assert_non_null(reader);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		const struct chunk_place place = place_of(payload);

		assert_true(place.is_known);
		assert_int_equal(place.number, sequence.next);
		assert_true(sequence_take(&sequence, &place, &missing));
		assert_int_equal(missing, 0);
	}
	assert_int_equal(type, CHUNK_END);
	reader_free(reader);
	close(fd);
	buffer_free(&bytes);
	samples_free(&samples);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_place_comes_back),
		cmocka_unit_test(only_a_whole_first_field_is_a_place),
		cmocka_unit_test(chunks_are_compared_with_those_before),
		cmocka_unit_test(the_writer_numbers_all_chunks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
