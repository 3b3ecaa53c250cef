/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/test_recording.h"

#include "base/random.h"
#include "commands/top/recent.h"

#define SAMPLES 4000 /* 10 ms apart, or a little more */

/* The contents of the copy, as a reader sees them. */
struct seen {
	size_t count;
	uint64_t first, last;
	struct summary summary;
};

static int see_samples(void *arg, struct samples_batch *batch, struct error *err)
{
	struct seen *seen = arg;

	(void)err;
	if (!seen->count)
		seen->first = batch->time[0];
	seen->count += batch->count;
	seen->last = batch->time[batch->count - 1];
	return 0;
}

static struct seen read_copy(const struct recent *recent)
{
	struct seen seen = {0};
	const struct load_visitor visitor = {.samples = see_samples, .arg = &seen};
	struct error err = {""};
	struct input input;

	assert_int_equal(input_open(&input, recent->path, &err), 0);
	assert_int_equal(load_recording(&input, 1, &seen.summary, &visitor, &err), 0);
	assert_int_equal(seen.summary.damage.bytes, 0);
	assert_int_equal(seen.summary.damage.missing, 0);
	input_close(&input);
	return seen;
}

static void make_recording(struct buffer *bytes, size_t each)
{
	uint64_t seed = 7;
	struct samples samples = likely_samples(SAMPLES, &seed);

	record(&samples, each, bytes);
	samples_free(&samples);
}

/* Follows a recording that grows by @piece bytes at a time, and checks its copy after
 * each piece. Sets @seen to the last copy's contents, and @largest to the largest size of
 * the copy. */
static void follow_recording(const struct buffer *bytes, size_t piece, uint64_t length,
			     uint64_t most, struct seen *seen, uint64_t *largest)
{
	int fd = file_with(NULL, 0);
	struct input input = {.name = "test", .fd = fd};
	struct error err = {""};
	struct recent recent;

	*largest = 0;
	assert_int_equal(recent_open(&recent, &input, length, &err), 0);
	recent.most = most;
	for (size_t at = 0; at < bytes->size; at += piece) {
		size_t size = bytes->size - at < piece ? bytes->size - at : piece;

		assert_true(recent.more);
		assert_int_equal(pwrite(fd, bytes->data + at, size, (off_t)at), size);
		assert_int_equal(recent_more(&recent, &err), 0);
		if (recent.copy.writer && writer_bytes(recent.copy.writer) > *largest)
			*largest = writer_bytes(recent.copy.writer);
		if (!recent_is_ready(&recent))
			continue;
		summary_free(&seen->summary);
		*seen = read_copy(&recent);
		if (seen->count)
			assert_int_equal(seen->last, recent.summary.last_time);
		if (length)
			assert_true(seen->last - seen->first <= length + length / 8);
	}
	assert_false(recent.more);
	assert_true(seen->summary.has_end);
	recent_close(&recent);
	close(fd);
}

/* Without a length, the copy is the recording. */
static void test_all(void **state)
{
	struct buffer bytes = {0};
	struct seen seen = {0};
	uint64_t largest;

	(void)state;
	make_recording(&bytes, 100);
	follow_recording(&bytes, 5000, 0, RECENT_BYTES, &seen, &largest);
	assert_int_equal(seen.count, SAMPLES);
	assert_int_equal(seen.summary.counts.pauses.count, SAMPLES);
	assert_int_equal(seen.summary.info.monotonic_start, test_info().monotonic_start);
	assert_string_equal(summary_domain(&seen.summary, 0)->name, "web");
	summary_free(&seen.summary);
	buffer_free(&bytes);
}

/* Older samples are dropped, with their pauses; the copy starts where the dropped samples
 * end. */
static void test_length(void **state)
{
	struct buffer bytes = {0};
	struct seen seen = {0};
	uint64_t largest;

	(void)state;
	make_recording(&bytes, 100);
	follow_recording(&bytes, 777, 10000000000, RECENT_BYTES, &seen, &largest);
	/* 10 s to 11.25 s, or a chunk of 1 s less. */
	assert_in_range(seen.count, 900, 1130);
	assert_int_equal(seen.summary.counts.pauses.count, seen.count);
	assert_in_range(seen.first - seen.summary.info.monotonic_start, 10000000,
			10001000);
	assert_int_equal(seen.summary.info.wall_start - test_info().wall_start,
			 seen.summary.info.monotonic_start - test_info().monotonic_start);
	summary_free(&seen.summary);
	buffer_free(&bytes);
}

/* The memory is bounded without a length, too, and even if time stands still. */
static void test_bytes(void **state)
{
	uint64_t seed = 3, largest;
	struct samples samples = likely_samples(SAMPLES, &seed);
	struct buffer bytes = {0};
	struct seen seen = {0};

	(void)state;
	make_recording(&bytes, 100);
	follow_recording(&bytes, 500, 0, bytes.size / 4, &seen, &largest);
	assert_in_range(largest, bytes.size / 5, bytes.size / 4 + 500);
	assert_in_range(seen.count, SAMPLES / 20, SAMPLES / 2);
	assert_true(seen.summary.has_end);
	summary_free(&seen.summary);
	buffer_free(&bytes);

	for (size_t i = 0; i < SAMPLES; i++)
		samples.at[i].time = 1000000000000;
	record(&samples, 100, &bytes);
	seen = (struct seen){0};
	follow_recording(&bytes, 500, 0, bytes.size / 4, &seen, &largest);
	assert_in_range(largest, bytes.size / 5, bytes.size / 4 + 500);
	samples_free(&samples);
	summary_free(&seen.summary);
	buffer_free(&bytes);
}

#define SERVER	 0x1000
#define OTHER(i) (0x100000 + (uint64_t)(i)*0x1000)
#define EACH	 20 /* samples of each of the other processes */

/* A mapping, whose paths compress badly. */
static void write_mapping(struct writer *writer, uint64_t space, uint64_t *seed)
{
	char path[256];
	const struct recording_mapping mapping = {
		.space = space,
		.time = 1000000000000,
		.start = 0x400000,
		.size = 0x1000,
		.path = {path, sizeof(path)},
	};
	struct error err;

	for (size_t i = 0; i < sizeof(path); i++)
		path[i] = (char)('!' + random_next(seed) % 90);
	assert_int_equal(writer_mapping(writer, &mapping, &err), 0);
}

/* Every second sample is of the server, the others of processes that end soon. */
static void make_processes(struct buffer *bytes)
{
	uint64_t seed = 11;
	struct samples samples = likely_samples(SAMPLES, &seed);
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME, .monotonic = 1060000000000};
	struct error err = {""};
	int fd = file_with(NULL, 0);
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);

	write_mapping(writer, SERVER, &seed);
	for (size_t i = 0; i < samples.count; i++) {
		struct sample *sample = &samples.at[i];

		if (i % EACH == 0)
			write_mapping(writer, OTHER(i / EACH), &seed);
		sample->domain = 0;
		sample->process.space = i % 2 ? SERVER : OTHER(i / EACH);
		assert_int_equal(writer_sample(writer, sample, &err), 0);
		if ((i + 1) % 100 == 0)
			assert_int_equal(writer_flush(writer, &err), 0);
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	samples_free(&samples);
	take_file(fd, bytes);
}

/* Mappings in a copy */
struct seen_mappings {
	size_t servers, others, last;
};

static int see_mappings(void *arg, const struct mapping_list_reader *mappings,
			struct error *err)
{
	struct mapping_list_reader left = *mappings;
	struct seen_mappings *seen = arg;
	struct recording_mapping mapping;

	(void)err;
	while (mapping_list_next(&left, &mapping)) {
		bool is_server = mapping.space == SERVER;

		seen->servers += is_server;
		seen->others += !is_server;
		seen->last += mapping.space == OTHER(SAMPLES / EACH - 1);
	}
	return 0;
}

/* Mappings of processes that have no samples any more are dropped, too. */
static void test_mappings(void **state)
{
	struct buffer bytes = {0};
	struct seen_mappings seen = {0};
	const struct load_visitor visitor = {.mappings = see_mappings, .arg = &seen};
	struct recent recent;
	struct error err = {""};
	struct input input = {.name = "test"}, copied;
	struct seen samples;

	(void)state;
	make_processes(&bytes);
	input.fd = file_with(bytes.data, bytes.size);
	assert_int_equal(recent_open(&recent, &input, 10000000000, &err), 0);
	assert_int_equal(recent_more(&recent, &err), 0);
	samples = read_copy(&recent);
	assert_in_range(samples.count, 900, 1130);
	assert_int_equal(input_open(&copied, recent.path, &err), 0);
	assert_int_equal(load_names(&copied, &visitor, &err), 0);
	assert_int_equal(seen.servers, 1);
	assert_int_equal(seen.last, 1);
	assert_in_range(seen.others, samples.count / EACH, samples.count / EACH + 12);
	input_close(&copied);
	summary_free(&samples.summary);
	recent_close(&recent);
	close(input.fd);
	buffer_free(&bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
