/* SPDX-License-Identifier: BSD-3-Clause */

/* Limits on the contents of a recording relative to its size. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/sums.h"
#include "report/load/load.h"

#define FREE_SAMPLES ((uint64_t)1 << 20)
#define VCPUS	     128

static void the_limits_grow_with_the_bytes_read(void **state)
{
	const struct recording_sums most[] = {
		{.payload = ((uint64_t)16 << 20) + 256 * 1000},
		{.samples = FREE_SAMPLES + 64 * 1000},
		{.nodes = ((uint64_t)1 << 20) + 16 * 1000},
		{.names = ((uint64_t)1 << 18) + 1000},
		{.names_payload = ((uint64_t)16 << 20) + 32 * 1000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(most) / sizeof(most[0]); i++) {
		assert_true(sums_fit(&most[i], 1000));
		assert_false(sums_fit(&most[i], 999));
	}
}

static void the_number_of_names_is_limited_at_any_size(void **state)
{
	struct recording_sums sums = {.names = RECORDING_MAX_ALL_NAMES,
				      .names_payload = RECORDING_MAX_NAMES_BYTES};

	(void)state;
	assert_true(sums_fit(&sums, 1 << 30));
	sums.names++;
	assert_false(sums_fit(&sums, 1 << 30));
	sums.names--;
	sums.names_payload++;
	assert_false(sums_fit(&sums, 1 << 30));
}

static int pass_over(void *arg, struct samples_batch *batch, struct error *err)
{
	(void)arg;
	(void)batch;
	(void)err;
	return 0;
}

/* Writes a recording that is denser than any guest's, and denser than allowed: all vCPUs
 * are idle, and each round is exactly on time. */
static void write_dense(int fd, size_t rounds)
{
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME};
	uint64_t address = 0x1000;
	struct error err = {""};
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);

	assert_non_null(writer);
	for (size_t i = 0; i < rounds; i++) {
		for (uint32_t vcpu = 0; vcpu < VCPUS; vcpu++) {
			const struct sample sample = {
				.time = i * 1000000,
				.vcpu = vcpu,
				.weight = 1,
				.chain = {&address, 1, CHAIN_WHOLE, false},
			};

			assert_int_equal(writer_sample(writer, &sample, &err), 0);
		}
		if (i % 500 == 499)
			assert_int_equal(writer_flush(writer, &err), 0);
	}
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
}

static void the_densest_recording_can_be_read(void **state)
{
	const size_t rounds = 40000;
	const struct load_visitor visitor = {.samples = pass_over};
	struct summary summary = {0};
	struct input input = {.name = "input", .fd = file_with(NULL, 0)};
	struct error err = {""};

	(void)state;
	write_dense(input.fd, rounds);
	lseek(input.fd, 0, SEEK_SET);
	assert_int_equal(load_recording(&input, 0, &summary, &visitor, &err), 0);
	assert_int_equal(summary.samples, rounds * VCPUS);
	assert_int_equal(summary.damage.places, 0);
	summary_free(&summary);
	close(input.fd);
}

/* Loads chunks of the maximum number of samples, in a few bytes each. */
static int load_bombs(unsigned int chunks, struct summary *summary, struct error *err)
{
	const struct load_visitor visitor = {.samples = pass_over};
	struct samples_encoder *encoder = samples_encoder_new();
	const struct sampling_counts none = {0};
	struct buffer payload = {0}, file = {0};
	struct input input = {.name = "input"};
	int status;

	for (uint32_t i = 0; i < RECORDING_MAX_SAMPLES; i++) {
		const struct sample sample = {.weight = 1};

		assert_int_equal(samples_encoder_add(encoder, &sample), 0);
	}
	samples_encoder_finish(encoder, &none, &payload);
	for (unsigned int i = 0; i < chunks; i++)
		assert_int_equal(chunk_encode(&file, CHUNK_SAMPLES, &payload), 0);
	input.fd = file_with(file.data, file.size);
	*summary = (struct summary){0};
	status = load_recording(&input, 0, summary, &visitor, err);
	close(input.fd);
	samples_encoder_free(encoder);
	buffer_free(&payload);
	buffer_free(&file);
	return status;
}

static void a_recording_above_the_limits_is_refused(void **state)
{
	struct summary summary;
	struct error err;

	(void)state;
	assert_int_equal(load_bombs(FREE_SAMPLES / RECORDING_MAX_SAMPLES, &summary, &err),
			 0);
	assert_int_equal(summary.samples, FREE_SAMPLES);
	summary_free(&summary);
	assert_int_equal(load_bombs(30, &summary, &err), -1);
	assert_non_null(
		strstr(err.text, "input contains more than a recording of its size"));
	/* The first chunk above the limit is detected. */
	assert_true(summary.samples <= FREE_SAMPLES + RECORDING_MAX_SAMPLES);
	summary_free(&summary);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_limits_grow_with_the_bytes_read),
		cmocka_unit_test(the_number_of_names_is_limited_at_any_size),
		cmocka_unit_test(the_densest_recording_can_be_read),
		cmocka_unit_test(a_recording_above_the_limits_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
