/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/domains/pacer.h"

#define START 1234567890123ull

/* Totals of a simulated recorder. */
struct run {
	uint64_t rounds, weight, missed, paused, last;
};

/* Takes rounds of @round ns, of which the guest is paused for @paused, on time,
 * until @seconds have passed. */
static struct run simulate(const struct pace *pace, uint64_t seconds, uint64_t round,
			   uint64_t paused)
{
	struct run run = {0};
	struct pacer pacer;
	uint64_t now = START;

	pacer_start(&pacer, pace, START, 42);
	for (;;) {
		uint64_t missed;

		if (pacer_due(&pacer) > now)
			now = pacer_due(&pacer);
		if (now >= START + seconds * NS_PER_S)
			return run;
		run.weight += pacer_begin(&pacer, now, &missed);
		run.missed += missed;
		run.rounds++;
		run.paused += paused;
		run.last = now;
		pacer_end(&pacer, paused);
		now += round;
	}
}

static void a_steady_rate_does_not_drift(void **state)
{
	static const uint64_t rates[] = {1, 3, 99, 200, 997, 10000};

	(void)state;
	for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		struct pace pace = {.frequency = rates[i], .max_overhead = 1};
		struct run run = simulate(&pace, 1000, 1000, 500);

		assert_int_equal(run.rounds, rates[i] * 1000);
		assert_int_equal(run.weight, run.rounds);
		assert_int_equal(run.missed, 0);
		assert_true(START + 1000 * NS_PER_S - run.last <=
			    NS_PER_S / rates[i] + 1);
	}
}

static void skipped_slots_are_neither_missed_nor_in_a_weight(void **state)
{
	static const double limits[] = {1, 0.05};
	uint64_t missed;

	(void)state;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		struct pace pace = {.frequency = 100, .max_overhead = limits[i]};
		uint64_t later = START + 3 * NS_PER_S;
		struct pacer pacer;

		pacer_start(&pacer, &pace, START, 1);
		pacer_begin(&pacer, START, &missed);
		pacer_end(&pacer, 500);
		/* The next round is not due before this time: nothing is skipped. */
		pacer_skip(&pacer, START + 5000000);
		assert_int_equal(pacer_due(&pacer), START + 10000000);
		pacer_skip(&pacer, later + 5000000);
		assert_int_equal(pacer_due(&pacer), later + 10000000);
		assert_int_equal(pacer_begin(&pacer, later + 10000000, &missed), 1);
		assert_int_equal(missed, 0);
		pacer_end(&pacer, 500);
		assert_int_equal(pacer_due(&pacer), later + 20000000);
	}
}

static void missed_deadlines_are_counted_and_not_made_up_for(void **state)
{
	struct pace pace = {.frequency = 100, .max_overhead = 1};
	struct pacer pacer;
	uint64_t missed;

	(void)state;
	pacer_start(&pacer, &pace, START, 1);
	assert_int_equal(pacer_begin(&pacer, START, &missed), 1);
	assert_int_equal(missed, 0);
	pacer_end(&pacer, 500);
	assert_int_equal(pacer_due(&pacer), START + 10000000);
	/* A round half a slot late is late, but not missed. */
	pacer_begin(&pacer, START + 15000000, &missed);
	assert_int_equal(missed, 0);
	pacer_end(&pacer, 500);
	assert_int_equal(pacer_due(&pacer), START + 20000000);
	/* Slots 2 to 6 have passed. */
	pacer_begin(&pacer, START + 70000000, &missed);
	assert_int_equal(missed, 5);
	pacer_end(&pacer, 500);
	assert_int_equal(pacer_due(&pacer), START + 80000000);
}

static void weights_compensate_for_a_lowered_rate(void **state)
{
	static const uint64_t pauses[] = {10000, 51000, 77000, 200000, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		struct pace pace = {.frequency = 1000, .max_overhead = 0.05};
		struct run run = simulate(&pace, 100, pauses[i] + 20000, pauses[i]);

		/* Every slot is part of a weight, or was missed at the start. */
		assert_in_range(run.weight + run.missed, 99900, 100100);
		assert_true(run.missed < 500);
		assert_true(run.paused <= (uint64_t)(0.052 * 100 * NS_PER_S));
		/* And no more is given up than necessary. */
		if (pauses[i] > 50000)
			assert_true(run.paused >= (uint64_t)(0.048 * 100 * NS_PER_S));
		else
			assert_int_equal(run.rounds, 100000);
	}
}

static void the_limit_holds_in_short_recordings(void **state)
{
	static const uint64_t rates[] = {1000, 10000};
	static const uint64_t pauses[] = {51000, 250000, 3000000};

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct pace pace = {.frequency = rates[i % 2], .max_overhead = 0.02};
		uint64_t paused = pauses[i / 2];
		struct run run = simulate(&pace, 1, paused + 20000, paused);

		assert_true(run.paused <= NS_PER_S * 2 / 100 + 5 * paused);
	}
}

/* Returns the largest weight after a single pause of 30 ms, in round @when, among pauses
 * that each cost 2.5 slots. */
static uint64_t largest_weight(int when)
{
	struct pace pace = {.frequency = 1000, .max_overhead = 0.1};
	uint64_t missed, now = START, most = 0;
	struct pacer pacer;

	pacer_start(&pacer, &pace, START, 1);
	for (int i = 0; i < 2000; i++) {
		uint64_t paused = i == when ? 30000000 : 250000;
		uint64_t weight;

		now = pacer_due(&pacer) > now ? pacer_due(&pacer) : now;
		weight = pacer_begin(&pacer, now, &missed);
		if (weight > most)
			most = weight;
		pacer_end(&pacer, paused);
		now += paused;
	}
	return most;
}

static void single_long_pauses_change_the_rate_little(void **state)
{
	(void)state;
	assert_in_range(largest_weight(500), 4, 6);
	assert_in_range(largest_weight(17), 4, 6);
	assert_in_range(largest_weight(5), 3, 6);
	assert_in_range(largest_weight(0), 3, 6);
}

#define MS 1000000ull

static uint64_t likely(uint64_t *seed, uint64_t one_of, uint64_t then, uint64_t else_)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % one_of == 0 ? then : else_;
}

/* Returns the length of the @i-th pause, which starts @at ns after the start. */
static uint64_t steady(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)i, (void)at, (void)seed;
	return 400000;
}

static uint64_t cold_at_first(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)at, (void)seed;
	return i < 4 ? (5 - i) * MS : 300000;
}

static uint64_t a_stall_now_and_then(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)i, (void)at;
	return likely(seed, 100, 20 * MS, 300000);
}

static uint64_t stalls_of_any_length(uint64_t i, uint64_t at, uint64_t *seed)
{
	uint64_t length = 250000;

	(void)i, (void)at;
	while (length < 64 * MS && likely(seed, 4, 1, 0))
		length *= 3;
	return length;
}

static uint64_t a_stall_first(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)at, (void)seed;
	return i == 0 ? 40 * MS : 100000;
}

static uint64_t rows_of_stalls(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)at, (void)seed;
	return i % 200 < 5 ? 10 * MS : 250000;
}

static uint64_t a_busy_time(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)i, (void)seed;
	return at / NS_PER_S % 20 < 5 ? 3 * MS : 60000;
}

static uint64_t a_stall_every_25_s(uint64_t i, uint64_t at, uint64_t *seed)
{
	static uint64_t last;
	uint64_t was = last;

	(void)seed;
	last = i ? at : 0;
	return i && at / (25 * NS_PER_S) != was / (25 * NS_PER_S) ? 60 * MS : 300000;
}

static uint64_t stopped_for_seconds(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)at, (void)seed;
	return i == 300 ? 3 * NS_PER_S : 200000;
}

static uint64_t longer_and_longer(uint64_t i, uint64_t at, uint64_t *seed)
{
	(void)at, (void)seed;
	return 100000 + i * 5000;
}

static uint64_t (*const shapes[])(uint64_t i, uint64_t at, uint64_t *seed) = {
	steady,
	cold_at_first,
	a_stall_now_and_then,
	stalls_of_any_length,
	a_stall_first,
	rows_of_stalls,
	a_busy_time,
	a_stall_every_25_s,
	stopped_for_seconds,
	longer_and_longer,
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

struct pause {
	uint64_t start, length;
};

#define MOST_PAUSES 2000000

/* Simulates the pauses of @seconds; returns their number. */
static size_t paused_by(const struct pace *pace, size_t shape, uint64_t seconds,
			struct pause *pauses)
{
	uint64_t now = START, missed, seed = 11;
	struct pacer pacer;
	size_t count = 0;

	pacer_start(&pacer, pace, START, 5);
	for (;;) {
		uint64_t length;

		now = pacer_due(&pacer) > now ? pacer_due(&pacer) : now;
		if (now >= START + seconds * NS_PER_S)
			return count;
		pacer_begin(&pacer, now, &missed);
		length = shapes[shape](count, now - START, &seed);
		assert_true(count < MOST_PAUSES);
		pauses[count++] = (struct pause){now, length};
		pacer_end(&pacer, length);
		now += length + 20000;
	}
}

/*
 * Expects the pauses in each window of @window ns that ends with a pause to be within the
 * limit, without the last pause or, if @strict, without the part by which the last pause
 * is longer than all pauses of the minute before. Other windows contain less, so they
 * need no check.
 */
static void expect_limit(const struct pause *pauses, size_t count, double limit,
			 uint64_t window, bool strict)
{
	size_t first = 0, remembered = 0;
	uint64_t sum = 0;

	for (size_t last = 0; last < count; last++) {
		uint64_t room = pauses[last].length, longest = 0;

		sum += pauses[last].length;
		while (pauses[first].start + window < pauses[last].start)
			sum -= pauses[first++].length;
		while (pauses[remembered].start + 60 * NS_PER_S < pauses[last].start)
			remembered++;
		for (size_t i = remembered; strict && i < last && longest < room; i++)
			if (pauses[i].length > longest)
				longest = pauses[i].length;
		/* No more than half of the budget is reserved for a pause. */
		if (longest > limit * (double)window / 2)
			longest = (uint64_t)(limit * (double)window / 2);
		if (strict)
			room = room > longest ? room - longest : 0;
		if ((double)sum > limit * (double)window + (double)room + 1)
			fail_msg("%.3f ms of %.3f s, %.3f s after the start",
				 (double)sum / 1e6, (double)window / 1e9,
				 (double)(pauses[last].start - START) / 1e9);
	}
}

static void the_limit_holds_over_any_interval(void **state)
{
	static const double limits[] = {0.01, 0.05, 0.2, 0.7};
	static const uint64_t rates[] = {20, 99, 1000, 10000};
	struct pause *pauses = malloc(MOST_PAUSES * sizeof(*pauses));

	(void)state;
	assert_non_null(pauses);
	for (size_t i = 0; i < SHAPES * 16 * 2; i++) {
		const struct pace pace = {.frequency = rates[i / 2 % 4],
					  .max_overhead = limits[i / 8 % 4],
					  .jitter = i % 2};
		size_t count = paused_by(&pace, i / 32, 60, pauses);

		assert_true(count > 2);
		expect_limit(pauses, count, pace.max_overhead, 2 * NS_PER_S, false);
		expect_limit(pauses, count, pace.max_overhead, 10 * NS_PER_S, true);
	}
	free(pauses);
}

/* As `uniprof record` reports it at the end of a short recording. */
static void the_limit_holds_from_the_first_second_on(void **state)
{
	static const uint64_t pauses[] = {60000, 400000, 1100000};

	(void)state;
	for (uint64_t seconds = 1; seconds <= 40; seconds++) {
		struct pace pace = {.frequency = 1000, .max_overhead = 0.05};

		for (size_t i = 0; i < 3; i++) {
			struct run run = simulate(&pace, seconds, pauses[i] + 50000,
						  pauses[i]);

			assert_true(run.paused * 20 <= seconds * NS_PER_S);
			/* And no more is given up than necessary. */
			assert_true(run.paused * 22 >= seconds * NS_PER_S);
		}
	}
}

/* Simulates a guest that alternates between two functions, @turn ns each, with pauses of
 * different lengths. Returns the first function's share of the weights. */
static double share_of_first(uint64_t turn, uint64_t first, uint64_t second,
			     uint64_t stalls)
{
	struct pace pace = {.frequency = 1000, .max_overhead = 0.05, .jitter = true};
	uint64_t now = START, missed, seed = 3, weight[2] = {0}, stood = 0;
	struct pacer pacer;

	pacer_start(&pacer, &pace, START, 9);
	while (now < START + 400 * NS_PER_S) {
		bool other = (now - START - stood) / turn % 2;
		uint64_t paused = likely(&seed, stalls, 15 * MS, other ? second : first);

		weight[other] += pacer_begin(&pacer, now, &missed);
		pacer_end(&pacer, paused);
		stood += paused;
		now += paused + 20000;
		now = pacer_due(&pacer) > now ? pacer_due(&pacer) : now;
	}
	return (double)weight[0] / (double)(weight[0] + weight[1]);
}

static void expect_half(double share, double error)
{
	if (share < 0.5 - error || share > 0.5 + error)
		fail_msg("%.3f is not 0.5", share);
}

static void weights_keep_shares_correct(void **state)
{
	static const uint64_t turns[] = {700000, 9 * MS, 130 * MS, 2000 * MS};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		expect_half(share_of_first(turns[i], 300000, 300000, 1000000), 0.01);
		expect_half(share_of_first(turns[i], 300000, 300000, 40), 0.01);
		expect_half(share_of_first(turns[i], 300000, 450000, 300), 0.015);
		/* These pauses are worse than any observed. */
		expect_half(share_of_first(turns[i], 200000, 600000, 300), 0.03);
		expect_half(share_of_first(turns[i], 200000, 1500000, 1000000), 0.06);
	}
}

/* With few rounds, too, the rounds lost in a stall soon become part of weights. */
static void a_stall_loses_no_weight_at_a_low_rate(void **state)
{
	struct pace pace = {.frequency = 1000, .max_overhead = 0.05};
	uint64_t now = START, missed, weight = 0;
	struct pacer pacer;

	(void)state;
	pacer_start(&pacer, &pace, START, 1);
	for (int i = 0; now < START + 12 * NS_PER_S; i++) {
		uint64_t paused = i == 20 ? 60 * MS : 5 * MS;

		weight += pacer_begin(&pacer, now, &missed);
		pacer_end(&pacer, paused);
		now = pacer_due(&pacer);
	}
	assert_true(weight > 11000);
}

static void the_rate_recovers_when_pauses_get_short(void **state)
{
	struct pace pace = {.frequency = 1000, .max_overhead = 0.05};
	struct pacer pacer;
	uint64_t missed, now = START, weight = 0;

	(void)state;
	pacer_start(&pacer, &pace, START, 1);
	for (int i = 0; i < 2000; i++) {
		uint64_t paused = i < 100 ? 5000000 : 1000;

		now = pacer_due(&pacer) > now ? pacer_due(&pacer) : now;
		weight = pacer_begin(&pacer, now, &missed);
		pacer_end(&pacer, paused);
		now += paused;
		if (i == 99)
			assert_true(weight > 50);
	}
	assert_int_equal(weight, 1);
}

static void jitter_stays_within_the_slot_and_covers_it(void **state)
{
	struct pace pace = {.frequency = 100, .max_overhead = 1, .jitter = true};
	unsigned int tenth[10] = {0};
	struct pacer pacer;
	uint64_t missed;

	(void)state;
	pacer_start(&pacer, &pace, START, 7);
	for (uint64_t i = 0; i < 10000; i++) {
		uint64_t due = pacer_due(&pacer), begin = START + i * 10000000;

		assert_in_range(due, begin, begin + 9999999);
		tenth[(due - begin) / 1000000]++;
		assert_int_equal(pacer_begin(&pacer, due, &missed), 1);
		assert_int_equal(missed, 0);
		pacer_end(&pacer, 0);
	}
	for (int i = 0; i < 10; i++)
		assert_in_range(tenth[i], 800, 1200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_rate_does_not_drift),
		cmocka_unit_test(missed_deadlines_are_counted_and_not_made_up_for),
		cmocka_unit_test(skipped_slots_are_neither_missed_nor_in_a_weight),
		cmocka_unit_test(weights_compensate_for_a_lowered_rate),
		cmocka_unit_test(the_limit_holds_in_short_recordings),
		cmocka_unit_test(single_long_pauses_change_the_rate_little),
		cmocka_unit_test(the_limit_holds_over_any_interval),
		cmocka_unit_test(the_limit_holds_from_the_first_second_on),
		cmocka_unit_test(weights_keep_shares_correct),
		cmocka_unit_test(a_stall_loses_no_weight_at_a_low_rate),
		cmocka_unit_test(the_rate_recovers_when_pauses_get_short),
		cmocka_unit_test(jitter_stays_within_the_slot_and_covers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
