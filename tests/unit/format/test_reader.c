/* SPDX-License-Identifier: BSD-3-Clause */

/* The reader with intact recordings from any kind of input, and with other files. */

#define _GNU_SOURCE 1
#include "tests/unit/format/test_reader.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

static void a_recording_is_read_as_written(void **state)
{
	static const unsigned int types[CHUNKS] = {
		CHUNK_INFO,    CHUNK_DOMAIN, CHUNK_SAMPLES, CHUNK_SAMPLES,
		CHUNK_SAMPLES, CHUNK_INFO,   CHUNK_DOMAIN,  CHUNK_END,
	};
	const struct recording *recording = *state;
	struct recording_info info, info_written = test_info();
	struct recording_domain domain, domain_written = test_domain();
	struct recording_end end;
	struct samples_batch batch = {0};

	assert_int_equal(recording->start[CHUNKS], recording->bytes.size);
	for (size_t i = 0; i < CHUNKS; i++) {
		struct cursor payload = cursor_of(&recording->chunk[i].payload);

		assert_int_equal(recording->chunk[i].type, types[i]);
		switch (types[i]) {
		case CHUNK_INFO:
			assert_int_equal(info_decode(payload, &info), 0);
			assert_memory_equal(&info, &info_written, sizeof(info));
			break;
		case CHUNK_DOMAIN:
			assert_int_equal(domain_decode(payload, &domain), 0);
			assert_memory_equal(&domain, &domain_written, sizeof(domain));
			break;
		case CHUNK_SAMPLES:
			assert_int_equal(samples_decode(payload, &batch), 0);
			expect_samples(&batch, recording->samples.at + (i - 2) * 3, 3);
			assert_int_equal(batch.counts.pauses.count, 3);
			break;
		default:
			assert_int_equal(end_decode(payload, &end), 0);
			assert_int_equal(end.reason, END_TIME);
			assert_int_equal(end.samples, 9);
			assert_int_equal(end.pauses, 9);
			assert_int_equal(end.paused, 9 * 20000 + 36);
		}
	}
	samples_batch_free(&batch);
}

static void chunks_of_one_type_are_found(void **state)
{
	const struct recording *recording = *state;
	int fd = file_with(recording->bytes.data, recording->bytes.size);
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	struct error err;
	unsigned int type;

	assert_non_null(reader);
	reader_only(reader, CHUNK_DOMAIN, CHUNK_DOMAIN);
	for (size_t i = 1; i < CHUNKS; i += 5) {
		const struct buffer *wanted = &recording->chunk[i].payload;

		assert_int_equal(reader_next(reader, &type, &payload, &err), 1);
		assert_int_equal(type, CHUNK_DOMAIN);
		assert_int_equal(payload.end - payload.at, wanted->size);
		assert_memory_equal(payload.at, wanted->data, wanted->size);
		assert_int_equal(reader_offset(reader), recording->start[i + 1]);
	}
	assert_int_equal(reader_next(reader, &type, &payload, &err), 0);
	assert_int_equal(reader_damage(reader)->bytes, 0);
	reader_free(reader);
	close(fd);
}

static void files_that_are_not_recordings_are_refused(void **state)
{
	struct outcome outcome = {0};
	char text[5000];

	(void)state;
	read_bytes("", 0, &outcome);
	assert_int_equal(outcome.status, -1);
	assert_string_equal(outcome.err.text, "the recording is empty");
	memset(text, 1, sizeof(text));
	for (size_t size = 1; size <= sizeof(text); size += size < 30 ? 1 : 497) {
		read_bytes(text, size, &outcome);
		assert_int_equal(outcome.status, -1);
		assert_string_equal(outcome.err.text, "not a uniprof recording");
	}
	memset(text, CHUNK_MAGIC[0], sizeof(text));
	read_bytes(text, sizeof(text), &outcome);
	assert_int_equal(outcome.status, -1);
	assert_string_equal(outcome.err.text, "not a uniprof recording");
	outcome_free(&outcome);
}

static void read_errors_give_the_reason(void **state)
{
	struct outcome outcome = {0};
	int fd = open("/", O_RDONLY | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	read_all(fd, &outcome);
	close(fd);
	assert_int_equal(outcome.status, -1);
	assert_non_null(strstr(outcome.err.text, "can't read the recording: "));
	assert_non_null(strstr(outcome.err.text, "irectory"));
	outcome_free(&outcome);
}

static void chunks_of_unknown_type_are_returned(void **state)
{
	const struct recording *recording = *state;
	struct outcome outcome = {0};
	struct buffer bytes = {0};

	buffer_put(&bytes, recording->bytes.data, recording->start[1]);
	put_chunk(&bytes, 65535, CHUNK_PLAIN, "later", 5, 5);
	put_chunk(&bytes, 5, CHUNK_PLAIN, "", 0, 0);
	buffer_put(&bytes, recording->bytes.data + recording->start[1],
		   recording->bytes.size - recording->start[1]);
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.count, CHUNKS + 2);
	expect_chunks(&outcome, 0, recording, 0, 1);
	expect_chunks(&outcome, 3, recording, 1, CHUNKS - 1);
	assert_int_equal(outcome.chunk[1].type, 65535);
	assert_int_equal(outcome.chunk[1].payload.size, 5);
	assert_memory_equal(outcome.chunk[1].payload.data, "later", 5);
	assert_int_equal(outcome.chunk[2].type, 5);
	assert_int_equal(outcome.chunk[2].payload.size, 0);
	assert_int_equal(outcome.damage.bytes, 0);
	buffer_free(&bytes);
	outcome_free(&outcome);
}

static void chunks_of_the_largest_size_are_read(void **state)
{
	struct outcome outcome = {0};
	struct buffer payload = {0}, bytes = {0};

	(void)state;
	fill_random(&payload, RECORDING_MAX_STORED);
	buffer_put(&bytes, "junk",
		   4); /* so that no chunk is at the start of the window */
	for (uint32_t i = 0; i < 3; i++) {
		payload.data[i] ^= 1;
		put_plain_chunk(&bytes, CHUNK_SAMPLES, &payload);
		put_chunk(&bytes, CHUNK_END, CHUNK_PLAIN, &i, sizeof(i), sizeof(i));
	}
	read_bytes(bytes.data, bytes.size, &outcome);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(outcome.count, 6);
	assert_int_equal(outcome.damage.bytes, 4);
	for (uint32_t i = 0; i < 6; i += 2) {
		assert_int_equal(outcome.chunk[i].payload.size, RECORDING_MAX_STORED);
		assert_int_equal(outcome.chunk[i + 1].payload.data[0], i / 2);
	}
	assert_memory_equal(outcome.chunk[4].payload.data, payload.data, payload.size);
	buffer_free(&payload);
	buffer_free(&bytes);
	outcome_free(&outcome);
}

struct feeder {
	const struct buffer *bytes;
	int fd;
	pthread_t reader;
};

static void *feed_by_byte(void *data)
{
	const struct feeder *feeder = data;

	for (size_t i = 0; i < feeder->bytes->size; i++) {
		pthread_kill(feeder->reader, SIGUSR1);
		if (write(feeder->fd, feeder->bytes->data + i, 1) != 1)
			break;
	}
	close(feeder->fd);
	return NULL;
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* A pipe of packets (pipe(2), O_DIRECT): each read returns one byte. */
static void a_pipe_can_return_single_bytes_between_signals(void **state)
{
	const struct recording *recording = *state;
	const struct sigaction interrupting = {.sa_handler = do_nothing};
	struct feeder feeder = {.bytes = &recording->bytes, .reader = pthread_self()};
	struct outcome outcome = {0};
	pthread_t thread;
	int ends[2];

	assert_int_equal(sigaction(SIGUSR1, &interrupting, NULL), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_DIRECT), 0);
	feeder.fd = ends[1];
	assert_int_equal(pthread_create(&thread, NULL, feed_by_byte, &feeder), 0);
	read_all(ends[0], &outcome);
	assert_int_equal(pthread_join(thread, NULL), 0);
	close(ends[0]);
	expect_all_but(&outcome, recording, CHUNKS, 0, 0);
	outcome_free(&outcome);
}

static void progress_is_counted_in_bytes(void **state)
{
	const struct recording *recording = *state;
	int fd = file_with(recording->bytes.data, recording->bytes.size);
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	struct error err;
	unsigned int type;

	assert_non_null(reader);
	for (size_t i = 0; i < CHUNKS; i++) {
		assert_int_equal(reader_offset(reader), recording->start[i]);
		assert_int_equal(reader_next(reader, &type, &payload, &err), 1);
	}
	assert_int_equal(reader_next(reader, &type, &payload, &err), 0);
	assert_int_equal(reader_offset(reader), recording->bytes.size);
	assert_int_equal(reader_next(reader, &type, &payload, &err), 0);
	reader_free(reader);
	close(fd);
}

int main(void)
{
	alarm(600);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recording_is_read_as_written),
		cmocka_unit_test(chunks_of_one_type_are_found),
		cmocka_unit_test(files_that_are_not_recordings_are_refused),
		cmocka_unit_test(read_errors_give_the_reason),
		cmocka_unit_test(chunks_of_unknown_type_are_returned),
		cmocka_unit_test(chunks_of_the_largest_size_are_read),
		cmocka_unit_test(a_pipe_can_return_single_bytes_between_signals),
		cmocka_unit_test(progress_is_counted_in_bytes),
	};

	return cmocka_run_group_tests(tests, recording_setup, recording_teardown);
}
