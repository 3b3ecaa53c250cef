/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/tally.h"

#define PERIOD (NS_PER_S / 100)

static void what_neither_ran_nor_waited_for_a_cpu_is_idle(void **state)
{
	struct tally tally = {0};

	(void)state;
	tally_observe(&tally, 5 * NS_PER_S, 70 * NS_PER_S, NS_PER_S);
	assert_int_equal(tally_take_idle(&tally, PERIOD), 0);
	/* Of a second, it ran 0.3 s and waited for a CPU 0.1 s. */
	tally_observe(&tally, 6 * NS_PER_S, 70 * NS_PER_S + 30 * PERIOD,
		      NS_PER_S + 10 * PERIOD);
	assert_int_equal(tally_take_idle(&tally, PERIOD), 60);
	assert_int_equal(tally_take_idle(&tally, PERIOD), 0);
}

static void parts_of_a_period_are_kept(void **state)
{
	struct tally tally = {0};
	uint32_t sum = 0;

	(void)state;
	for (uint64_t i = 0; i <= 1000; i++) {
		tally_observe(&tally, NS_PER_S + i * PERIOD * 7 / 10, 1, 1);
		sum += tally_take_idle(&tally, PERIOD);
	}
	assert_int_equal(sum, 700);
}

/* The CPU time of a thread that runs comes late, and then more of it than time has
 * passed. */
static void clocks_that_disagree_make_no_idle_time(void **state)
{
	struct tally tally = {0};

	(void)state;
	tally_observe(&tally, 100, 0, 0);
	tally_observe(&tally, 100 + PERIOD / 2, 0, 0);
	tally_observe(&tally, 100 + PERIOD, 2 * PERIOD, 0);
	assert_int_equal(tally.idle, 0);
	/* Another thread's times are smaller. */
	tally_observe(&tally, 100 + 3 * PERIOD, 0, 0);
	assert_int_equal(tally.idle, 0);
	tally_observe(&tally, 100 + 4 * PERIOD, 0, 0);
	assert_int_equal(tally_take_idle(&tally, PERIOD), 1);
}

static void a_guest_is_trusted_unless_an_eighth_of_its_chains_is_cut(void **state)
{
	struct trust trust = {0};
	unsigned int i = 0;

	(void)state;
	for (i = 0; i < 10000; i++)
		assert_true(trust_count(&trust, i % 8 == 0));
	trust = (struct trust){0};
	for (i = 1; trust_count(&trust, i % 7 == 0); i++)
		assert_true(i < 256);
	assert_int_equal(i, 256);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_neither_ran_nor_waited_for_a_cpu_is_idle),
		cmocka_unit_test(parts_of_a_period_are_kept),
		cmocka_unit_test(clocks_that_disagree_make_no_idle_time),
		cmocka_unit_test(
			a_guest_is_trusted_unless_an_eighth_of_its_chains_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
