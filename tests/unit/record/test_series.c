/* SPDX-License-Identifier: BSD-3-Clause */

/* Recordings that follow each other: nothing is missing between them. */

#define _GNU_SOURCE 1
#include "tests/unit/files.h"
#include "tests/unit/test_recording.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "record/file/series.h"

#define START  (50 * NS_PER_S)
#define PERIOD (NS_PER_S / 100)

/* The contents of a file. */
struct contents {
	struct recording_info info;
	struct recording_end end;
	size_t samples, domains;
	uint64_t first, last; /* times of the first and the last sample */
	char names[2][16];    /* names of the domains, by index */
};

static void take_samples(struct contents *contents, struct cursor payload)
{
	struct samples_batch batch = {0};

	assert_int_equal(samples_decode(payload, &batch), 0);
	for (size_t i = 0; i < batch.count; i++) {
		/* The domain must have been described earlier in the file. */
		assert_true(contents->names[batch.domain[i]][0]);
		if (!contents->samples++)
			contents->first = batch.time[i];
		contents->last = batch.time[i];
	}
	samples_batch_free(&batch);
}

static struct contents contents_of(const char *path)
{
	struct contents contents = {.samples = 0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct reader *reader = reader_new(fd);
	struct recording_domain domain;
	struct cursor payload;
	struct error err;
	unsigned int type;

	assert_true(fd >= 0);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type == CHUNK_INFO) {
			assert_int_equal(info_decode(payload, &contents.info), 0);
		} else if (type == CHUNK_DOMAIN) {
			assert_int_equal(domain_decode(payload, &domain), 0);
			contents.domains += !contents.names[domain.index][0];
			snprintf(contents.names[domain.index], sizeof(contents.names[0]),
				 "%.15s", domain.name);
		} else if (type == CHUNK_SAMPLES) {
			take_samples(&contents, payload);
		} else if (type == CHUNK_END) {
			assert_int_equal(end_decode(payload, &contents.end), 0);
		}
	}
	reader_free(reader);
	close(fd);
	return contents;
}

static void begin_series(struct series *series, const struct rotation *rotation)
{
	struct recording_info info = test_info();
	struct error err;

	info.monotonic_start = START;
	assert_int_equal(series_init(series, "a.data", rotation, &err), 0);
	assert_int_equal(series_open(series, &err), 0);
	assert_int_equal(series_begin(series, &info, &err), 0);
}

static void describe(struct series *series, uint64_t index, const char *name)
{
	struct recording_domain domain = test_domain();
	struct error err;

	domain.index = index;
	snprintf(domain.name, sizeof(domain.name), "%s", name);
	assert_int_equal(series_domain(series, &domain, &err), 0);
}

/* Takes a sample, with a chain that does not compress. */
static int take_sample(struct series *series, uint64_t time, uint32_t domain,
		       struct error *err)
{
	static uint64_t seed = 1;
	uint64_t address[16];
	struct sample sample = {.time = time,
				.domain = domain,
				.weight = 1,
				.chain = {.address = address, .count = 16}};

	for (size_t i = 0; i < 16; i++)
		address[i] = random_next(&seed);
	if (series_advance(series, time, err) < 0)
		return -1;
	return series_sample(series, &sample, err);
}

static void end(struct series *series, uint64_t time, struct recording_end *totals)
{
	struct error err;

	*totals = (struct recording_end){.reason = END_TIME, .monotonic = time};
	assert_int_equal(series_end(series, totals, &err), 0);
}

static void every_sample_is_in_the_file_of_its_time(void **state)
{
	const struct rotation each_second = {
		.time = NS_PER_S,
		.complete = eventfd(0, EFD_CLOEXEC),
	};
	struct recording_end totals;
	struct series series;
	eventfd_t complete;
	char name[32];
	struct error err;

	(void)state;
	begin_series(&series, &each_second);
	describe(&series, 0, "web");
	/* Sample for 3.5 s: the second domain starts after 1.5 s, and the first ends
	 * after 2 s. */
	for (uint64_t i = 0; i < 350; i++) {
		if (i == 150)
			describe(&series, 1, "db");
		assert_int_equal(take_sample(&series, START + i * PERIOD, i >= 200, &err),
				 0);
	}
	end(&series, START + 350 * PERIOD, &totals);
	assert_int_equal(totals.samples, 350);
	assert_int_equal(totals.monotonic, START + 350 * PERIOD);
	assert_int_equal(series_weight(&series), 350);
	assert_string_equal(series_name(&series), "a.data.4");
	assert_int_equal(series.files, 4);
	assert_int_equal(series_close(&series, &err), 0);
	/* Three files were complete before the last. */
	assert_int_equal(eventfd_read(each_second.complete, &complete), 0);
	assert_int_equal(complete, 3);
	close(each_second.complete);

	for (uint64_t i = 0; i < 4; i++) {
		uint64_t start = START + i * NS_PER_S;
		struct contents contents;

		snprintf(name, sizeof(name), "a.data.%d", (int)i + 1);
		contents = contents_of(name);
		assert_int_equal(contents.samples, i < 3 ? 100 : 50);
		assert_int_equal(contents.first, start);
		assert_int_equal(contents.last, start + (contents.samples - 1) * PERIOD);
		assert_int_equal(contents.info.monotonic_start, start);
		assert_int_equal(contents.end.samples, contents.samples);
		assert_int_equal(contents.end.reason, i < 3 ? END_ROTATED : END_TIME);
		assert_int_equal(contents.end.monotonic,
				 i < 3 ? start + NS_PER_S : totals.monotonic);
		assert_int_equal(contents.domains, i == 1 ? 2 : 1);
		assert_string_equal(contents.names[i >= 2], i >= 2 ? "db" : "web");
	}
	assert_int_equal(access("a.data", F_OK), -1);
}

/* Nothing can be sampled for a while: the times of files remain multiples. */
static void a_time_without_samples_has_no_file(void **state)
{
	static const struct rotation each_second = {.time = NS_PER_S};
	struct recording_end totals;
	struct contents contents;
	struct series series;
	struct error err;

	(void)state;
	begin_series(&series, &each_second);
	describe(&series, 0, "web");
	assert_int_equal(take_sample(&series, START, 0, &err), 0);
	assert_int_equal(take_sample(&series, START + 5 * NS_PER_S + 3, 0, &err), 0);
	end(&series, START + 6 * NS_PER_S, &totals);
	assert_int_equal(series_close(&series, &err), 0);
	contents = contents_of("a.data.1");
	assert_int_equal(contents.end.monotonic, START + NS_PER_S);
	contents = contents_of("a.data.2");
	assert_int_equal(contents.info.monotonic_start, START + 5 * NS_PER_S);
	assert_int_equal(contents.samples, 1);
	assert_int_equal(access("a.data.3", F_OK), -1);
}

static void files_are_about_as_large_as_wanted(void **state)
{
	static const struct rotation rotation = {.size = 20000};
	struct recording_end totals;
	struct series series;
	uint64_t samples = 0, next = START;
	char name[32];
	struct error err;

	(void)state;
	begin_series(&series, &rotation);
	describe(&series, 0, "web");
	for (uint64_t i = 0; i < 2000; i++) {
		assert_int_equal(take_sample(&series, START + i * PERIOD, 0, &err), 0);
		if (i % 10 == 9)
			assert_int_equal(writer_flush(series.writer, &err), 0);
	}
	end(&series, START + 2000 * PERIOD, &totals);
	assert_true(series.files > 5);
	for (uint64_t i = 1; i <= series.files; i++) {
		struct contents contents;
		struct stat st;

		snprintf(name, sizeof(name), "a.data.%d", (int)i);
		contents = contents_of(name);
		assert_int_equal(contents.info.monotonic_start, next);
		assert_int_equal(contents.first, next);
		next = contents.end.monotonic;
		samples += contents.samples;
		assert_int_equal(stat(name, &st), 0);
		if (i < series.files)
			assert_in_range(st.st_size, 20000, 25000);
	}
	assert_int_equal(samples, 2000);
	assert_int_equal(series_close(&series, &err), 0);
}

/* Numbers continue after the numbers of earlier recordings, which are kept or not. */
static void so_many_files_are_kept(void **state)
{
	static const struct rotation rotation = {.time = NS_PER_S, .keep = 3};
	static const char *const others[] = {"a.data",	   "a.data.old", "a.data.07",
					     "b.a.data.1", "a.data.1x",	 "a.data."};
	struct recording_end totals;
	struct series series;
	struct error err;

	(void)state;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		put_file(others[i], "other");
	put_file("a.data.2", "earlier");
	put_file("a.data.7", "earlier");
	put_file("a.data.8", "earlier");
	begin_series(&series, &rotation);
	describe(&series, 0, "web");
	assert_string_equal(series_name(&series), "a.data.9");
	assert_int_equal(take_sample(&series, START, 0, &err), 0);
	/* A file that another process creates meanwhile is not overwritten. */
	put_file("a.data.10", "foreign");
	assert_int_equal(take_sample(&series, START + NS_PER_S, 0, &err), 0);
	assert_string_equal(series_name(&series), "a.data.11");
	end(&series, START + 2 * NS_PER_S, &totals);
	assert_int_equal(series_close(&series, &err), 0);
	assert_int_equal(access("a.data.2", F_OK), -1);
	assert_int_equal(access("a.data.7", F_OK), -1);
	assert_int_equal(access("a.data.8", F_OK), -1);
	expect_file("a.data.10", "foreign");
	assert_int_equal(contents_of("a.data.9").samples, 1);
	assert_int_equal(contents_of("a.data.11").samples, 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		expect_file(others[i], "other");
}

static void a_folder_that_can_not_be_written_is_named(void **state)
{
	static const struct rotation rotation = {.time = NS_PER_S};
	struct series series;
	struct error err;

	(void)state;
	assert_int_equal(series_init(&series, "none/a.data", &rotation, &err), 0);
	assert_int_equal(series_open(&series, &err), -1);
	assert_string_equal(err.text,
			    "can't write to none/a.data.1: No such file or directory");
	assert_int_equal(series_close(&series, &err), 0);
}

/* All files so far are complete, and the totals are known. */
static void the_end_of_the_opener_ends_the_recording(void **state)
{
	static const struct rotation rotation = {.time = NS_PER_S};
	struct recording_end totals = {.reason = END_ERROR, .monotonic = START};
	struct series series;
	struct error err, other;

	(void)state;
	begin_series(&series, &rotation);
	describe(&series, 0, "web");
	assert_int_equal(take_sample(&series, START, 0, &err), 0);
	kill(series.opener.child, SIGKILL);
	assert_int_equal(take_sample(&series, START + NS_PER_S, 0, &err), -1);
	assert_string_equal(err.text, "the process that creates files was killed");
	assert_string_equal(series_name(&series), "a.data");
	assert_int_equal(series_end(&series, &totals, &other), -1);
	assert_int_equal(totals.samples, 1);
	assert_int_equal(series_close(&series, &other), 0);
	assert_int_equal(contents_of("a.data.1").end.samples, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_sample_is_in_the_file_of_its_time,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(a_time_without_samples_has_no_file,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(files_are_about_as_large_as_wanted,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(so_many_files_are_kept, enter_directory,
						leave_directory),
		cmocka_unit_test_setup_teardown(a_folder_that_can_not_be_written_is_named,
						enter_directory, leave_directory),
		cmocka_unit_test_setup_teardown(the_end_of_the_opener_ends_the_recording,
						enter_directory, leave_directory),
	};

	signal(SIGPIPE, SIG_IGN); /* as record does */
	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
