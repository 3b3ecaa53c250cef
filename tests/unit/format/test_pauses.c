/* SPDX-License-Identifier: BSD-3-Clause */

/* The distribution of pause lengths: its buckets, and the precision of quantiles. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/pauses.h"

/* The maximum error that pauses.h promises: 3.2 % */
#define WORST 0.032

static const double parts[] = {0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1};

/* Returns the bucket that counts a length. */
static unsigned int bucket_of(uint64_t ns)
{
	struct pauses pauses = {0};
	unsigned int bucket = PAUSES_BUCKETS;

	pauses_add(&pauses, ns);
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		if (!pauses.bucket[i])
			continue;
		assert_int_equal(bucket, PAUSES_BUCKETS);
		assert_int_equal(pauses.bucket[i], 1);
		bucket = i;
	}
	assert_true(bucket < PAUSES_BUCKETS);
	return bucket;
}

static void buckets_are_contiguous(void **state)
{
	(void)state;
	assert_int_equal(pauses_bucket_start(0), 0);
	for (unsigned int i = 0; i < PAUSES_BUCKETS; i++) {
		uint64_t start = pauses_bucket_start(i);

		assert_int_equal(bucket_of(start), i);
		if (i)
			assert_int_equal(bucket_of(start - 1), i - 1);
	}
	assert_int_equal(bucket_of(UINT64_MAX), PAUSES_BUCKETS - 1);
}

static void buckets_are_exact_below_64_ns_and_a_32nd_of_their_octave_above(void **state)
{
	(void)state;
	for (unsigned int ns = 0; ns < 64; ns++)
		assert_int_equal(pauses_bucket_start(ns), ns);
	for (unsigned int i = 64; i + 1 < PAUSES_BUCKETS; i++) {
		uint64_t start = pauses_bucket_start(i);
		uint64_t octave = (uint64_t)1 << (63 - __builtin_clzll(start));

		assert_int_equal(pauses_bucket_start(i + 1) - start, octave / 32);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Expects each quantile to be within WORST of the length with its rank. */
static void expect_quantiles(uint64_t *ns, size_t count)
{
	struct pauses pauses = {0};

	for (size_t i = 0; i < count; i++)
		pauses_add(&pauses, ns[i]);
	assert_int_equal(pauses.count, count);
	qsort(ns, count, sizeof(*ns), compare);
	assert_int_equal(pauses.max, ns[count - 1]);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		size_t rank = (size_t)(parts[i] * (double)count);
		double exact = (double)ns[rank < count ? rank : count - 1];
		uint64_t quantile = pauses_quantile(&pauses, parts[i]);

		assert_true(quantile <= pauses.max);
		assert_true((double)quantile >= exact * (1 - WORST));
		assert_true((double)quantile <= exact * (1 + WORST));
	}
	assert_int_equal(pauses_quantile(&pauses, 1), ns[count - 1]);
}

static void quantiles_are_off_by_at_most_3_2_percent(void **state)
{
	enum {
		COUNT = 20000
	};
	static uint64_t ns[COUNT];
	uint64_t random = 1;

	(void)state;
	for (unsigned int bits = 1; bits <= 64; bits++) {
		for (size_t i = 0; i < COUNT; i++) {
			random = random * 6364136223846793005 + 1442695040888963407;
			/* Uniform on each scale. */
			ns[i] = random >> (64 - bits);
			if (bits % 2)
				ns[i] >>= random >> 7 & bits >> 1;
		}
		expect_quantiles(ns, COUNT);
	}
}

static void quantiles_of_few_pauses_are_accurate(void **state)
{
	(void)state;
	for (uint64_t length = 1; length < UINT64_MAX / 3; length += length / 2 + 1) {
		uint64_t one[] = {length};
		uint64_t three[] = {length, length * 2, length * 3};
		uint64_t same[] = {length, length, length, length};

		expect_quantiles(one, 1);
		expect_quantiles(three, 3);
		expect_quantiles(same, 4);
	}
}

static void the_quantile_of_no_pauses_is_0(void **state)
{
	static const struct pauses none;

	(void)state;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		assert_int_equal(pauses_quantile(&none, parts[i]), 0);
}

static void merging_equals_adding_all_pauses(void **state)
{
	struct pauses all = {0}, even = {0}, odd = {0};

	(void)state;
	for (uint64_t i = 1; i <= 10000; i++) {
		pauses_add(&all, i * i - 1);
		pauses_add(i % 2 ? &odd : &even, i * i - 1);
	}
	pauses_merge(&even, &odd);
	assert_memory_equal(&even, &all, sizeof(all));
	pauses_merge(&odd, &(struct pauses){0});
	assert_int_equal(odd.count, 5000);
	assert_int_equal(odd.max, 9999 * 9999 - 1);
}

/* A file may contain such counts; the arithmetic must not overflow. */
static void the_largest_counts_have_quantiles(void **state)
{
	struct pauses pauses = {.count = UINT64_MAX, .max = 1000};

	(void)state;
	pauses.bucket[10] = UINT64_MAX;
	assert_int_equal(pauses_quantile(&pauses, 0), 10);
	assert_int_equal(pauses_quantile(&pauses, 0.5), 10);
	assert_int_equal(pauses_quantile(&pauses, 1), 1000);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_are_contiguous),
		cmocka_unit_test(
			buckets_are_exact_below_64_ns_and_a_32nd_of_their_octave_above),
		cmocka_unit_test(quantiles_are_off_by_at_most_3_2_percent),
		cmocka_unit_test(quantiles_of_few_pauses_are_accurate),
		cmocka_unit_test(the_quantile_of_no_pauses_is_0),
		cmocka_unit_test(merging_equals_adding_all_pauses),
		cmocka_unit_test(the_largest_counts_have_quantiles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
