/* SPDX-License-Identifier: BSD-3-Clause */

/* Loading gives the same result with any number of threads and without, for damaged
 * recordings, too. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include "report/load/load.h"

#define THREADS	 6 /* more than are useful */
#define SAMPLES	 400
#define EACH	 3 /* samples in a chunk */
#define DAMAGES	 100
#define STOPPING "the visitor stops"

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

/* The result of loading a recording. */
struct outcome {
	int status;
	struct error err;
	struct summary summary;
	struct buffer samples; /* all fields of each, in order */
	unsigned int batches, stop_at;
};

static void put(struct buffer *to, const void *data, size_t size)
{
	buffer_put(to, data, size);
	assert_false(to->failed);
}

static void put_samples(struct buffer *to, const struct samples_batch *batch)
{
	uint64_t address[RECORDING_MAX_DEPTH];

	for (size_t i = 0; i < batch->count; i++) {
		struct sample sample = samples_batch_sample(batch, i, address);
		uint64_t numbers[] = {sample.time,     sample.domain, sample.vcpu,
				      sample.state,    sample.weight, sample.cpu_time,
				      sample.chain.end};

		put(to, numbers, sizeof(numbers));
		put(to, address, sample.chain.count * sizeof(*address));
	}
}

static int take_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct outcome *outcome = arg;

	put_samples(&outcome->samples, batch);
	return ++outcome->batches == outcome->stop_at ? error_set(err, STOPPING) : 0;
}

static void load_sized(int fd, uint64_t size, unsigned int threads, unsigned int stop_at,
		       struct outcome *outcome)
{
	const struct load_visitor visitor = {.samples = take_samples, .arg = outcome};
	const struct input input = {.name = "input", .fd = fd, .size = size};

	*outcome = (struct outcome){.stop_at = stop_at};
	outcome->status = load_recording(&input, threads, &outcome->summary, &visitor,
					 &outcome->err);
}

/* An input of unknown size, which is read by threads; 0: as many as are useful. */
static void load(int fd, unsigned int threads, unsigned int stop_at,
		 struct outcome *outcome)
{
	load_sized(fd, 0, threads, stop_at, outcome);
}

/* The same without threads, and without the parts that these sum up. */
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

static void outcome_free(struct outcome *outcome)
{
	summary_free(&outcome->summary);
	buffer_free(&outcome->samples);
}

static void expect_same(const struct outcome *outcome, const struct outcome *wanted)
{
	const struct summary *summary = &outcome->summary, *other = &wanted->summary;

	assert_int_equal(outcome->status, wanted->status);
	assert_string_equal(outcome->err.text, wanted->err.text);
	assert_int_equal(outcome->samples.size, wanted->samples.size);
	assert_memory_equal(outcome->samples.data, wanted->samples.data,
			    wanted->samples.size);
	assert_int_equal(summary->samples, other->samples);
	assert_int_equal(summary->weight, other->weight);
	assert_int_equal(summary->frameless, other->frameless);
	assert_int_equal(summary->captured, other->captured);
	assert_int_equal(summary->first_time, other->first_time);
	assert_int_equal(summary->last_time, other->last_time);
	assert_int_equal(summary->lacks_cpu_time, other->lacks_cpu_time);
	assert_int_equal(summary->deepest, other->deepest);
	assert_int_equal(summary->bytes, other->bytes);
	assert_int_equal(summary->chunks, other->chunks);
	assert_memory_equal(&summary->counts, &other->counts, sizeof(other->counts));
	assert_memory_equal(&summary->damage, &other->damage, sizeof(other->damage));
	assert_int_equal(summary->vcpu_count, other->vcpu_count);
	for (size_t i = 0; i < other->vcpu_count; i++)
		assert_memory_equal(&summary->vcpus[i], &other->vcpus[i],
				    sizeof(other->vcpus[i]));
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

/* Loads the file with every number of threads from @fewest on, and without. */
static void expect_same_with_any(int fd, unsigned int fewest,
				 const struct outcome *wanted)
{
	struct outcome outcome;

	for (unsigned int threads = fewest; threads <= THREADS; threads++) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load(fd, threads, 0, &outcome);
		expect_same(&outcome, wanted);
		outcome_free(&outcome);
	}
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	load_sized(fd, wanted->summary.bytes, 0, 0, &outcome);
	expect_same(&outcome, wanted);
	outcome_free(&outcome);
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
	expect_same_with_any(fd, 0, &wanted);
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
	load(fd, THREADS, 0, &outcome);
	refuse_threads = false;
	assert_int_equal(threads_refused, 1);
	expect_same(&outcome, &wanted);
	outcome_free(&outcome);
	outcome_free(&wanted);
	close(fd);
	buffer_free(&bytes);
}

/* Bytes that are changed, removed or inserted. */
static void damage(struct buffer *bytes, uint64_t *seed)
{
	for (unsigned int i = 0; i < 1 + random_next(seed) % 8; i++) {
		size_t at = random_next(seed) % bytes->size;
		size_t length = random_next(seed) % 400;

		if (length > bytes->size - at)
			length = bytes->size - at;
		switch (random_next(seed) % 3) {
		case 0:
			bytes->data[at] ^= 0x55;
			break;
		case 1:
			memmove(bytes->data + at, bytes->data + at + length,
				bytes->size - at - length);
			bytes->size -= length;
			break;
		default:
			memset(bytes->data + at, CHUNK_MAGIC[0], length);
		}
	}
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
		put(&damaged, bytes.data, bytes.size);
		damage(&damaged, &seed);
		fd = file_with(damaged.data, damaged.size);
		read_alone(fd, &wanted);
		places += wanted.summary.damage.places;
		expect_same_with_any(fd, 1, &wanted);
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
	put(&payload, junk, sizeof(junk));
	put_plain_chunk(&bytes, CHUNK_SAMPLES, &payload);
	each = bytes.size;
	put_plain_chunk(&bytes, CHUNK_DOMAIN, &payload);
	put(&bytes, recording.data, recording.size);
	put_plain_chunk(&bytes, CHUNK_SAMPLES, &payload);
	fd = file_with(bytes.data, bytes.size);
	for (unsigned int threads = 1; threads <= THREADS; threads++) {
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		load(fd, threads, 0, &outcome);
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
		load(file, 1, stop_at, &wanted);
		assert_int_equal(wanted.status, -1);
		assert_string_equal(wanted.err.text, STOPPING);
		for (unsigned int threads = 1; threads <= THREADS; threads++) {
			assert_int_equal(pipe(ends), 0);
			assert_int_equal(write(ends[1], bytes.data, bytes.size),
					 bytes.size);
			load(ends[0], threads, stop_at, &outcome);
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
		load(fd, threads, 0, &outcome);
		assert_int_equal(outcome.status, -1);
		assert_string_equal(outcome.err.text, "input: not a uniprof recording");
		outcome_free(&outcome);
		load(fd, threads, 0, &outcome);
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
