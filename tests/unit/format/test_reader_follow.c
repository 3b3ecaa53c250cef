/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test_recording.h"

#include <fcntl.h>

static void make_chunks(struct buffer *bytes, size_t count)
{
	uint64_t seed = 1;
	struct samples samples = likely_samples(count, &seed);

	record(&samples, 10, bytes);
	samples_free(&samples);
}

/* Counts the samples of the chunks that can be read now. */
static size_t read_more(struct reader *reader)
{
	struct samples_batch batch = {0};
	struct cursor payload;
	unsigned int type;
	struct error err;
	size_t count = 0;
	int status;

	while ((status = reader_next(reader, &type, &payload, &err)) > 0) {
		if (type != CHUNK_SAMPLES)
			continue;
		assert_int_equal(samples_decode(payload, &batch), 0);
		count += batch.count;
	}
	assert_int_equal(status, 0);
	samples_batch_free(&batch);
	return count;
}

/* A file that grows by a byte at a time is read as if it had been whole, without damage.
 */
static void test_file(void **state)
{
	struct buffer bytes = {0};
	struct reader *reader;
	size_t count = 0;
	int fd = file_with(NULL, 0);

	(void)state;
	make_chunks(&bytes, 100);
	reader = reader_new(fd);
	reader_follow(reader);
	assert_int_equal(read_more(reader), 0);
	for (size_t i = 0; i < bytes.size; i++) {
		assert_int_equal(pwrite(fd, bytes.data + i, 1, (off_t)i), 1);
		count += read_more(reader);
		assert_int_equal(reader_damage(reader)->bytes, 0);
		assert_false(reader_damage(reader)->cut);
	}
	assert_int_equal(count, 100);
	assert_int_equal(reader_offset(reader), bytes.size);
	assert_false(reader_ended(reader));
	reader_free(reader);
	buffer_free(&bytes);
	close(fd);
}

/* The reader does not wait for a pipe; once the pipe is closed, an incomplete chunk is
 * cut. */
static void test_pipe(void **state)
{
	struct buffer bytes = {0};
	struct reader *reader;
	int ends[2];

	(void)state;
	make_chunks(&bytes, 20);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	reader = reader_new(ends[0]);
	reader_follow(reader);
	assert_int_equal(read_more(reader), 0);
	assert_int_equal(write(ends[1], bytes.data, bytes.size - 5), bytes.size - 5);
	assert_int_equal(read_more(reader), 20);
	assert_false(reader_ended(reader));
	assert_int_equal(reader_damage(reader)->bytes, 0);
	close(ends[1]);
	assert_int_equal(read_more(reader), 0);
	assert_true(reader_ended(reader));
	assert_true(reader_damage(reader)->cut);
	reader_free(reader);
	buffer_free(&bytes);
	close(ends[0]);
}

/* Input that is not a recording is recognized before it ends. */
static void test_no_recording(void **state)
{
	static const char text[] = "This is no recording, and it may go on.";
	int fd = file_with(text, sizeof(text));
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	struct error err = {""};
	unsigned int type;

	(void)state;
	reader_follow(reader);
	assert_int_equal(reader_next(reader, &type, &payload, &err), -1);
	assert_string_equal(err.text, "not a uniprof recording");
	reader_free(reader);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_no_recording),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
