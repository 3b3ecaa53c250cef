/* SPDX-License-Identifier: BSD-3-Clause */

/* INFO and END of a recording are read without the chunks between them; reports read a
 * recording once, whatever they need from it in advance. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "report/load/ends.h"
#include "report/model/profile_read.h"

#define CHUNKS 8

static void add_chunk(struct buffer *file, enum chunk_type type, struct buffer *payload)
{
	assert_int_equal(chunk_encode(file, type, payload), 0);
	buffer_reset(payload);
}

/* A recording whose chunks of samples are large and invalid. */
static void make_file(struct buffer *file, bool has_end)
{
	struct recording_info info = {
		.version = RECORDING_VERSION, .monotonic_start = 1000, .host = "xen1"};
	struct recording_end end = {.monotonic = 5000};
	struct buffer payload = {0}, noise = {0};

	info_encode(&payload, &info);
	add_chunk(file, CHUNK_INFO, &payload);
	for (int i = 0; i < CHUNKS; i++) {
		fill_random(&noise, 100000);
		add_chunk(file, CHUNK_SAMPLES, &noise);
	}
	info_encode(&payload, &info);
	add_chunk(file, CHUNK_INFO, &payload);
	end_encode(&payload, &end);
	if (has_end)
		add_chunk(file, CHUNK_END, &payload);
	buffer_free(&payload);
	buffer_free(&noise);
}

static struct input input_of(const struct buffer *file)
{
	return (struct input){.name = "input",
			      .fd = file_with(file->data, file->size),
			      .size = file->size};
}

static void info_and_end_are_read(void **state)
{
	struct summary summary = {0};
	struct buffer file = {0};
	struct input input;

	(void)state;
	make_file(&file, true);
	input = input_of(&file);
	assert_true(ends_read(&input, &summary));
	assert_string_equal(summary.info.host, "xen1");
	assert_int_equal(summary_start(&summary), 1000);
	assert_int_equal(summary_duration(&summary), 4000);
	assert_int_equal(lseek(input.fd, 0, SEEK_CUR), 0);
	close(input.fd);
	buffer_free(&file);
	summary_free(&summary);
}

static void files_without_an_intact_end_are_not_summarized(void **state)
{
	struct summary summary = {0};
	struct buffer file = {0};
	struct input input;

	(void)state;
	make_file(&file, false);
	input = input_of(&file);
	assert_false(ends_read(&input, &summary));
	close(input.fd);
	buffer_reset(&file);
	make_file(&file, true);
	/* Truncated anywhere, damaged in a header or the totals, or a pipe. */
	for (size_t size = 0; size < file.size; size += size < 300 ? 1 : 5003) {
		input = input_of(&file);
		input.size = size;
		assert_false(ends_read(&input, &summary));
		close(input.fd);
	}
	for (size_t i = 0; i < CHUNK_HEADER_SIZE + 8; i++) {
		file.data[i] ^= 1;
		input = input_of(&file);
		assert_false(ends_read(&input, &summary));
		close(input.fd);
		file.data[i] ^= 1;
	}
	input = input_of(&file);
	input.start = -1;
	assert_false(ends_read(&input, &summary));
	close(input.fd);
	assert_false(summary.has_info || summary.has_end);
	buffer_free(&file);
}

/* Number of bytes read by this process so far (proc_pid_io(5)). */
static uint64_t bytes_read(void)
{
	FILE *io = fopen("/proc/self/io", "re");
	unsigned long long bytes;

	assert_non_null(io);
	assert_int_equal(fscanf(io, "rchar: %llu", &bytes), 1);
	fclose(io);
	return bytes;
}

/* Makes a report of @count times the file, and returns how often it was read. */
static double times_read(const struct buffer *file, const char *window, size_t count)
{
	const char *paths[2];
	struct profile_rules rules = {.inputs = paths,
				      .input_count = count,
				      .states = MEASURE_ALL_STATES,
				      .debug_directory = ""};
	const struct profile_listener listener = {0};
	struct profile profile = {0};
	struct error err = {""};
	char path[64];
	int fd = file_with(file->data, file->size);
	uint64_t before;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	paths[0] = paths[1] = path;
	if (window)
		assert_int_equal(window_parse(window, &rules.window), 0);
	assert_int_equal(profile_open(&profile, &rules, &err), 0);
	before = bytes_read();
	assert_int_equal(profile_read(&profile, &listener, &err), 0);
	before = bytes_read() - before;
	profile_close(&profile);
	close(fd);
	return (double)before / (double)file->size;
}

static void each_recording_is_read_once(void **state)
{
	struct buffer file = {0};

	(void)state;
	make_file(&file, true);
	assert_true(times_read(&file, NULL, 1) < 1.1);
	assert_true(times_read(&file, "10%,20%", 1) < 1.1);
	assert_true(times_read(&file, NULL, 2) < 2.1);
	assert_true(times_read(&file, "10%,20%", 2) < 2.1);
	/* Without an end, the length is known only after reading everything. */
	buffer_reset(&file);
	make_file(&file, false);
	assert_true(times_read(&file, "10%,20%", 1) > 1.9);
	buffer_free(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(info_and_end_are_read),
		cmocka_unit_test(files_without_an_intact_end_are_not_summarized),
		cmocka_unit_test(each_recording_is_read_once),
	};

	alarm(600);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
