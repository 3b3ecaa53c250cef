/* SPDX-License-Identifier: BSD-3-Clause */

/* Loading gives the same result with any number of threads and without, for damaged
 * recordings, too. */

#define _GNU_SOURCE 1
#include "tests/unit/report/test_outcome.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#define SAMPLES 400
#define EACH	3	   /* samples in a chunk */
#ifdef __SANITIZE_THREAD__ /* which makes a run take ten times as long */
#define DAMAGES 25
#else
#define DAMAGES 100
#endif

static bool refuse_threads;
static unsigned int threads_refused;

/* The loader's, too: there is no other way to be out of threads that works for root. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
		   void *(*start)(void *), void *argument)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *),
		      void *) = dlsym(RTLD_NEXT, "pthread_create");

	if (refuse_threads) {
		threads_refused++;
		return EAGAIN;
	}
	assert_non_null(create);
	return create(thread, attributes, start, argument);
}

/* An input of unknown size, which is read by threads; 0: as many as are useful. */
static void load_threads(int fd, unsigned int threads, unsigned int stop_at,
			 struct outcome *outcome)
{
	load_sized(fd, 0, threads, stop_at, (struct load_visitor){0}, outcome);
}

/* Loads without threads, and so without the partial sums that threads make. */
static void read_alone(int fd, struct outcome *outcome)
{
	struct reader *reader = reader_new(fd);
	struct samples_batch batch = {0};
	struct cursor payload;
	unsigned int type;

	assert_non_null(reader);
	*outcome = (struct outcome){0};
	while (reader_next(reader, &type, &payload, &outcome->err) > 0) {
		outcome->summary.chunks++;
		if (type != CHUNK_SAMPLES)
			continue;
		assert_int_equal(samples_decode(payload, &batch), 0);
		assert_int_equal(summary_add_samples(&outcome->summary, &batch), 0);
		assert_int_equal(take_samples(outcome, &batch, &outcome->err), 0);
	}
	outcome->summary.damage = *reader_damage(reader);
	outcome->summary.bytes = reader_offset(reader);
	samples_batch_free(&batch);
	reader_free(reader);
}

/* Samples of some vCPUs, with times that also go back, most of them with CPU times. */
static void make_recording(struct buffer *bytes)
{
	uint64_t seed = 11;
	struct samples samples = likely_samples(SAMPLES, &seed);

	for (size_t i = 0; i < samples.count; i++) {
		struct sample *sample = &samples.at[i];

		sample->time += random_next(&seed) % 100000000;
		sample->vcpu = (uint32_t)(random_next(&seed) % 70);
		sample->weight = 1 + (uint32_t)(random_next(&seed) % 3);
		sample->cpu_time = random_next(&seed) % 1000 * 10000;
		sample->has_cpu_time = i / EACH % 10 != 0;
		sample->chain.frameless = random_next(&seed) % 2;
	}
	record(&samples, EACH, bytes);
	samples_free(&samples);
}

static void the_number_of_threads_does_not_change_the_result(void **state)
{
	struct buffer bytes = {0};
	struct outcome wanted;
	int fd;

	(void)state;
	make_recording(&bytes);
	fd = file_with(bytes.data, bytes.size);
	read_alone(fd, &wanted);
	assert_true(wanted.batches > SAMPLES / EACH);
	expect_same_with_any(fd, 0, (struct load_visitor){0}, &wanted);
	outcome_free(&wanted);
	close(fd);
	buffer_free(&bytes);
}

static void a_recording_is_read_even_if_no_thread_can_be_started(void **state)
{
	struct outcome wanted, outcome;
	struct buffer bytes = {0};
	int fd;

	(void)state;
	make_recording(&bytes);
	fd = file_with(bytes.data, bytes.size);
	read_alone(fd, &wanted);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	threads_refused = 0;
	refuse_threads = true;
	load_threads(fd, THREADS, 0, &outcome);
	refuse_threads = false;
	assert_int_equal(threads_refused, 1);
	expect_same(&outcome, &wanted);
	outcome_free(&outcome);
	outcome_free(&wanted);
	close(fd);
	buffer_free(&bytes);
}

static void the_number_of_threads_does_not_change_damaged_recordings(void **state)
{
	struct buffer bytes = {0}, damaged = {0};
	uint64_t seed = 12, places = 0;
	struct outcome wanted;

	(void)state;
	make_recording(&bytes);
	for (unsigned int i = 0; i < DAMAGES; i++) {
		int fd;

		buffer_reset(&damaged);
		put_bytes(&damaged, bytes.data, bytes.size);
		damage_bytes(&damaged, &seed);
		fd = file_with(damaged.data, damaged.size);
		read_alone(fd, &wanted);
		places += wanted.summary.damage.places;
		expect_same_with_any(fd, 1, (struct load_visitor){0}, &wanted);
		outcome_free(&wanted);
		close(fd);
	}
	assert_true(places > DAMAGES);
	buffer_free(&damaged);
	buffer_free(&bytes);
}

/* Intact chunks with invalid payloads, among others. */
static void invalid_payloads_are_damage(void **state)
{
	static const uint8_t junk[] = {0xff, 0xff, 0xff};
	struct buffer bytes = {0}, payload = {0}, recording = {0};
	struct outcome outcome;
	size_t each;
	int fd;

	(void)state;
	make_recording(&recording);
	put_bytes(&payload, junk, sizeof(junk));
	put_plain_chunk(&bytes, CHUNK_SAMPLES, &payload);
	each = bytes.size;
	put_plain_chunk(&bytes, CHUNK_DOMAIN, &payload);
	put_bytes(&bytes, recording.data, recording.size);
	put_plain_chunk(&bytes, CHUNK_SAMPLES, &payload);
	fd = file_with(bytes.data, bytes.size);
	for (unsigned int threads = 1; threads <= THREADS; threads++) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load_threads(fd, threads, 0, &outcome);
		assert_int_equal(outcome.status, 0);
		assert_int_equal(outcome.summary.samples, SAMPLES);
		assert_int_equal(outcome.summary.damage.places, 3);
		assert_int_equal(outcome.summary.damage.bytes, 3 * each);
		assert_int_equal(outcome.summary.damage.first, 0);
		outcome_free(&outcome);
	}
	close(fd);
	buffer_free(&recording);
	buffer_free(&payload);
	buffer_free(&bytes);
}

/* Also while threads wait: for bytes, because the pipe stays open, and for space. */
static void a_visitor_can_stop_at_any_time(void **state)
{
	struct buffer bytes = {0};
	struct outcome wanted, outcome;
	int file, ends[2];

	(void)state;
	make_recording(&bytes);
	file = file_with(bytes.data, bytes.size);
	for (unsigned int stop_at = 1; stop_at <= SAMPLES / EACH; stop_at += 19) {
		assert_int_equal(lseek(file, 0, SEEK_SET), 0);
		load_threads(file, 1, stop_at, &wanted);
		assert_int_equal(wanted.status, -1);
		assert_string_equal(wanted.err.text, STOPPING);
		for (unsigned int threads = 1; threads <= THREADS; threads++) {
			assert_int_equal(pipe(ends), 0);
			assert_int_equal(write(ends[1], bytes.data, bytes.size),
					 bytes.size);
			load_threads(ends[0], threads, stop_at, &outcome);
			expect_same(&outcome, &wanted);
			outcome_free(&outcome);
			close(ends[0]);
			close(ends[1]);
		}
		outcome_free(&wanted);
	}
	close(file);
	buffer_free(&bytes);
}

static void files_that_are_not_recordings_are_refused(void **state)
{
	struct buffer bytes = {0};
	struct outcome outcome;
	int fd;

	(void)state;
	fill_random(&bytes, 100000);
	fd = file_with(bytes.data, bytes.size);
	for (unsigned int threads = 1; threads <= THREADS; threads++) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load_threads(fd, threads, 0, &outcome);
		assert_int_equal(outcome.status, -1);
		assert_string_equal(outcome.err.text, "input: not a uniprof recording");
		outcome_free(&outcome);
		load_threads(fd, threads, 0, &outcome);
		assert_int_equal(outcome.status, -1);
		assert_string_equal(outcome.err.text, "input: the recording is empty");
		outcome_free(&outcome);
	}
	close(fd);
	buffer_free(&bytes);
}

int main(void)
{
	alarm(600);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_number_of_threads_does_not_change_the_result),
		cmocka_unit_test(a_recording_is_read_even_if_no_thread_can_be_started),
		cmocka_unit_test(
			the_number_of_threads_does_not_change_damaged_recordings),
		cmocka_unit_test(invalid_payloads_are_damage),
		cmocka_unit_test(a_visitor_can_stop_at_any_time),
		cmocka_unit_test(files_that_are_not_recordings_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
