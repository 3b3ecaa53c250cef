/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Running out of memory while a recording is written or read is reported, and no earlier
 * data is lost. Each test makes the first allocation fail, then the second, and so on,
 * until all succeed. The allocator is a fake: the real one can't be made to fail at a
 * given call.
 */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

/* Counts down to the first allocation that fails; UINT32_MAX: none fails. */
static volatile unsigned int allocations_left = UINT32_MAX;

#ifndef __GLIBC__
#define HAS_OTHER_ALLOCATOR 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_OTHER_ALLOCATOR 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define HAS_OTHER_ALLOCATOR 1
#endif

#ifndef HAS_OTHER_ALLOCATOR

/* glibc's allocator. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

static bool fails(void)
{
	if (allocations_left == UINT32_MAX)
		return false;
	if (allocations_left)
		allocations_left--;
	return allocations_left == 0;
}

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
	return fails() ? NULL : __libc_realloc(memory, size);
}

#endif

/* Returns false in programs with another allocator, such as a sanitizer's or
 * valgrind's. */
static bool memory_can_run_out(void)
{
	struct buffer probe = {0};
	bool has_memory;

	allocations_left = 1;
	has_memory = buffer_extend(&probe, 1) != NULL;
	allocations_left = UINT32_MAX;
	buffer_free(&probe);
	if (!has_memory)
		return true;
	print_message("SKIPPED: this program's allocator can't be made to fail\n");
	return false;
}

static const char no_memory[] = "out of memory";

/* Writes a recording; 0, or -1 with an error. */
static int write_recording(int fd, const struct samples *samples, struct error *err)
{
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME};
	struct writer *writer = writer_new(fd, &info, &domain, 1, err);
	int status = writer ? 0 : -1;

	for (size_t i = 0; i < samples->count && !status; i++) {
		pauses_add(&writer_counts(writer)->pauses, i);
		status = writer_sample(writer, &samples->at[i], err);
		if (!status && i % 20 == 19)
			status = writer_flush(writer, err);
	}
	if (!status)
		status = writer_end(writer, &end, err);
	writer_free(writer);
	return status;
}

/* Reads a recording; 0, or -1 with an error. @found counts its samples. */
static int read_recording(int fd, const struct samples *samples, size_t *found,
			  struct damage *damage, struct error *err)
{
	static uint64_t address[RECORDING_MAX_DEPTH];
	struct reader *reader = reader_new(fd);
	struct samples_batch batch = {0};
	struct cursor payload;
	unsigned int type;
	int status = -1;

	*found = 0;
	*damage = (struct damage){0};
	if (!reader)
		return error_set(err, "%s", no_memory);
	while ((status = reader_next(reader, &type, &payload, err)) > 0) {
		if (type != CHUNK_SAMPLES)
			continue;
		if (samples_decode(payload, &batch) < 0) {
			status = error_set(err, "%s", no_memory);
			break;
		}
		for (size_t i = 0; i < batch.count; i++, ++*found) {
			struct sample sample = samples_batch_sample(&batch, i, address);

			expect_sample(&sample, &samples->at[*found]);
		}
	}
	*damage = *reader_damage(reader);
	samples_batch_free(&batch);
	reader_free(reader);
	return status;
}

static struct samples many_samples(void)
{
	uint64_t seed = 17;
	struct samples samples = likely_samples(100, &seed);

	/* Enough nodes for each array to grow several times. */
	for (size_t i = 0; i < samples.count; i++) {
		samples.at[i].chain.count = 30;
		for (uint32_t j = 0; j < 30; j++)
			samples.at[i].chain.address[j] = random_next(&seed);
	}
	return samples;
}

static void a_writer_out_of_memory_reports_it_and_keeps_flushed_samples(void **state)
{
	unsigned int failed = 0;
	struct samples samples;
	int status = -1;

	(void)state;
	if (!memory_can_run_out())
		skip();
	samples = many_samples();
	for (unsigned int left = 1; status; left++) {
		struct error err = {""}, read_err = {""};
		int fd = file_with(NULL, 0);
		struct damage damage;
		size_t found;

		allocations_left = left;
		status = write_recording(fd, &samples, &err);
		allocations_left = UINT32_MAX;
		failed += status != 0;
		if (status)
			assert_non_null(strstr(err.text, no_memory));
		lseek(fd, 0, SEEK_SET);
		read_recording(fd, &samples, &found, &damage, &read_err);
		close(fd);
		assert_int_equal(damage.bytes, 0);
		assert_int_equal(found % 20, 0);
		assert_true(status || found == samples.count);
	}
	assert_true(failed > 10);
	samples_free(&samples);
}

static void a_reader_out_of_memory_reports_it_and_no_damage(void **state)
{
	struct buffer bytes = {0};
	unsigned int failed = 0;
	struct samples samples;
	int status = -1;

	(void)state;
	if (!memory_can_run_out())
		skip();
	samples = many_samples();
	record(&samples, 20, &bytes);
	for (unsigned int left = 1; status; left++) {
		int fd = file_with(bytes.data, bytes.size);
		struct error err = {""};
		struct damage damage;
		size_t found;

		allocations_left = left;
		status = read_recording(fd, &samples, &found, &damage, &err);
		allocations_left = UINT32_MAX;
		close(fd);
		failed += status != 0;
		if (status)
			assert_non_null(strstr(err.text, no_memory));
		assert_int_equal(damage.bytes, 0);
		assert_true(status || found == samples.count);
	}
	assert_true(failed > 5);
	buffer_free(&bytes);
	samples_free(&samples);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_writer_out_of_memory_reports_it_and_keeps_flushed_samples),
		cmocka_unit_test(a_reader_out_of_memory_reports_it_and_no_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
