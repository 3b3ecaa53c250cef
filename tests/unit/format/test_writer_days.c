/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The writer writes the samples of 12 hours, or of the days given on the command line, to
 * /dev/null, flushing every second like the recorder. Memory use must not grow after the
 * first minutes.
 */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <fcntl.h>
#include <sys/resource.h>

#define RATE   99
#define MINUTE 60u
#define HOUR   3600u
#define DAY    (24 * HOUR)
#define STACKS 2000

/* The peak resident set of this process, in bytes. */
static long most_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_maxrss * 1024;
}

static void memory_use_is_constant(void **state)
{
	const unsigned int *seconds = *state;
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME};
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct error err;
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);
	uint64_t seed = 7, time = 0;
	struct samples samples = likely_samples(STACKS, &seed);
	long early = 0, late;

	assert_non_null(writer);
	for (unsigned int second = 0; second < *seconds; second++) {
		for (unsigned int i = 0; i < RATE; i++) {
			struct sample *sample = &samples.at[random_next(&seed) % STACKS];

			sample->time = time += 10101010 + random_next(&seed) % 10000;
			assert_int_equal(writer_sample(writer, sample, &err), 0);
			pauses_add(&writer_counts(writer)->pauses,
				   20000 + random_next(&seed) % 20000);
		}
		assert_int_equal(writer_flush(writer, &err), 0);
		if (second == 10 * MINUTE)
			early = most_memory();
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	assert_int_equal(end.samples, (uint64_t)*seconds * RATE);
	late = most_memory();
	print_message("%u hours at %d Hz: %.1f bytes a sample, %ld KiB after ten minutes "
		      "and %ld KiB in the end\n",
		      *seconds / HOUR, RATE,
		      (double)writer_bytes(writer) / (double)end.samples, early / 1024,
		      late / 1024);
	/* The kernel counts in steps; a byte lost at each flush would be more. */
	assert_true(late - early < (long)*seconds);
	writer_free(writer);
	samples_free(&samples);
	close(fd);
}

int main(int argc, char **argv)
{
	unsigned int seconds = argc > 1 ? (unsigned int)atoi(argv[1]) * DAY : DAY / 2;
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_prestate(memory_use_is_constant, &seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
