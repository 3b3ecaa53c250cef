/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/pacer.h"

#define START 1234567890123ull

/* What a simulated recorder amounts to. */
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

static void what_comes_too_late_is_missed_and_not_made_up_for(void **state)
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
	/* Half a slot late is late, but not too late. */
	pacer_begin(&pacer, START + 15000000, &missed);
	assert_int_equal(missed, 0);
	pacer_end(&pacer, 500);
	assert_int_equal(pacer_due(&pacer), START + 20000000);
	/* Slots 2 to 6 have gone by. */
	pacer_begin(&pacer, START + 70000000, &missed);
	assert_int_equal(missed, 5);
	pacer_end(&pacer, 500);
	assert_int_equal(pacer_due(&pacer), START + 80000000);
}

static void weights_stay_true_when_the_rate_is_lowered(void **state)
{
	static const uint64_t pauses[] = {10000, 51000, 77000, 200000, 1000000};

	(void)state;
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		struct pace pace = {.frequency = 1000, .max_overhead = 0.05};
		struct run run = simulate(&pace, 100, pauses[i] + 20000, pauses[i]);

		/* Every slot is in a weight, or was missed in the beginning. */
		assert_in_range(run.weight + run.missed, 99900, 100100);
		assert_true(run.missed < 500);
		assert_true(run.paused <= (uint64_t)(0.052 * 100 * NS_PER_S));
		/* And no more is given up than need be. */
		if (pauses[i] > 50000)
			assert_true(run.paused >= (uint64_t)(0.048 * 100 * NS_PER_S));
		else
			assert_int_equal(run.rounds, 100000);
	}
}

static void a_short_recording_keeps_the_limit_too(void **state)
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

/* The largest weight after a single pause of 30 ms, in round @when, among pauses of
 * which 2.5 slots have to be given for each. */
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

static void a_single_long_pause_does_not_decide(void **state)
{
	(void)state;
	assert_in_range(largest_weight(500), 4, 6);
	assert_in_range(largest_weight(17), 4, 6);
	assert_in_range(largest_weight(5), 3, 3);
	assert_in_range(largest_weight(0), 3, 3);
}

static void the_rate_comes_back_when_pauses_get_short(void **state)
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
		cmocka_unit_test(what_comes_too_late_is_missed_and_not_made_up_for),
		cmocka_unit_test(weights_stay_true_when_the_rate_is_lowered),
		cmocka_unit_test(a_short_recording_keeps_the_limit_too),
		cmocka_unit_test(a_single_long_pause_does_not_decide),
		cmocka_unit_test(the_rate_comes_back_when_pauses_get_short),
		cmocka_unit_test(jitter_stays_within_the_slot_and_covers_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
