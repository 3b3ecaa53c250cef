/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_FORMAT_TEST_READER_H
#define UNIPROF_TESTS_UNIT_FORMAT_TEST_READER_H

/* Shared by the tests of the reader: a recording, and the result of reading it. */

#include "tests/unit/test_recording.h"

#define LARGEST	  (CHUNK_HEADER_SIZE + RECORDING_MAX_STORED)
#define CHUNKS	  8 /* chunks in a struct recording */
#define FOUND_MAX 32

struct found {
	unsigned int type;
	struct buffer payload;
};

/* A small recording, the offsets of its chunks, and their contents. */
struct recording {
	struct samples samples;
	struct buffer bytes;
	size_t start[CHUNKS + 1];
	struct found chunk[CHUNKS];
};

/* The result of reading some bytes. */
struct outcome {
	size_t count;
	struct found chunk[FOUND_MAX];
	struct damage damage;
	int status; /* result of the last reader_next() */
	struct error err;
};

static inline void read_all(int fd, struct outcome *outcome)
{
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	unsigned int type;

	assert_non_null(reader);
	for (size_t i = 0; i < outcome->count; i++)
		buffer_reset(&outcome->chunk[i].payload);
	outcome->count = 0;
	while ((outcome->status = reader_next(reader, &type, &payload, &outcome->err)) >
	       0) {
		struct found *found = &outcome->chunk[outcome->count++];

		assert_true(outcome->count < FOUND_MAX);
		found->type = type;
		buffer_put(&found->payload, payload.at,
			   (size_t)(payload.end - payload.at));
	}
	outcome->damage = *reader_damage(reader);
	reader_free(reader);
}

static inline void read_bytes(const void *bytes, size_t size, struct outcome *outcome)
{
	int fd = file_with(bytes, size);

	read_all(fd, outcome);
	close(fd);
}

static inline void outcome_free(struct outcome *outcome)
{
	for (size_t i = 0; i < FOUND_MAX; i++)
		buffer_free(&outcome->chunk[i].payload);
}

/* Checks that the @count chunks found from number @from on are the recording's chunks
 * from number @first on. */
static inline void expect_chunks(const struct outcome *outcome, size_t from,
				 const struct recording *recording, size_t first,
				 size_t count)
{
	assert_true(outcome->count >= from + count);
	for (size_t i = 0; i < count; i++) {
		const struct found *found = &outcome->chunk[from + i];
		const struct found *wanted = &recording->chunk[first + i];

		assert_int_equal(found->type, wanted->type);
		assert_int_equal(found->payload.size, wanted->payload.size);
		assert_memory_equal(found->payload.data, wanted->payload.data,
				    wanted->payload.size);
	}
}

/* Checks that all chunks are found except @missing chunks from number @first on, with
 * this damage. */
static inline void expect_all_but(const struct outcome *outcome,
				  const struct recording *recording, size_t first,
				  size_t missing, uint64_t bytes)
{
	assert_int_equal(outcome->status, 0);
	assert_int_equal(outcome->count, CHUNKS - missing);
	expect_chunks(outcome, 0, recording, 0, first);
	expect_chunks(outcome, first, recording, first + missing,
		      CHUNKS - first - missing);
	assert_int_equal(outcome->damage.bytes, bytes);
	assert_int_equal(outcome->damage.places, bytes ? 1 : 0);
	if (bytes)
		assert_int_equal(outcome->damage.first, recording->start[first]);
}

static inline int recording_setup(void **state)
{
	static struct recording recording;
	uint64_t seed = 6;
	struct outcome outcome = {0};

	recording.samples = likely_samples(9, &seed);
	record(&recording.samples, 3, &recording.bytes);
	for (size_t i = 0; i < CHUNKS; i++) {
		const uint8_t *at = recording.bytes.data + recording.start[i];

		recording.start[i + 1] = recording.start[i] + CHUNK_HEADER_SIZE +
					 get_le32(at + 8);
	}
	read_bytes(recording.bytes.data, recording.bytes.size, &outcome);
	memcpy(recording.chunk, outcome.chunk, sizeof(recording.chunk));
	*state = &recording;
	return outcome.count == CHUNKS ? 0 : -1;
}

static inline int recording_teardown(void **state)
{
	struct recording *recording = *state;

	for (size_t i = 0; i < CHUNKS; i++)
		buffer_free(&recording->chunk[i].payload);
	buffer_free(&recording->bytes);
	samples_free(&recording->samples);
	return 0;
}

#endif
