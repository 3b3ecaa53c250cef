/* SPDX-License-Identifier: BSD-3-Clause */

/* Which samples count as taken before there was a table. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/domains/early.h"

#define CHAINS_MIN 32

static struct learning *learning;
static struct early early;

static int begin(void **state)
{
	learning = calloc(1, sizeof(*learning));
	early = (struct early){0};
	(void)state;
	if (!learning)
		return -1;
	learning->code.examiner = examiner_new();
	learning->code.chains_min = CHAINS_MIN;
	return learning->code.examiner ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	examiner_free(learning->code.examiner);
	free(learning);
	return 0;
}

/* Returns how a chain ends, in a round at @time, that ended with @cut. */
static enum chain_end take_round(uint64_t time, enum chain_end cut)
{
	struct sample sample = {.chain = {.end = cut}};
	const struct round round = {.time = time, .samples = 1, .sample = &sample};

	early_begin(&early, learning);
	early_end(&early, learning, &round);
	return sample.chain.end;
}

static void chains_that_lead_astray_at_first_are_marked(void **state)
{
	static const enum chain_end kept[] = {CHAIN_WHOLE, CHAIN_UNKNOWN, CHAIN_NO_PAGE,
					      CHAIN_NOT_READY, CHAIN_REAL_MODE};

	(void)state;
	assert_int_equal(take_round(NS_PER_S, CHAIN_NOT_PRESENT), CHAIN_EARLY);
	assert_int_equal(take_round(NS_PER_S, CHAIN_NOT_CALLED), CHAIN_EARLY);
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		assert_int_equal(take_round(NS_PER_S, kept[i]), kept[i]);
	assert_int_equal(early.samples, 7);
}

static void none_is_marked_once_frame_pointers_suffice(void **state)
{
	(void)state;
	learning->code.chains = CHAINS_MIN;
	assert_int_equal(take_round(NS_PER_S, CHAIN_NOT_PRESENT), CHAIN_NOT_PRESENT);
}

static void none_is_marked_late(void **state)
{
	(void)state;
	learning->table.state = TABLE_PENDING;
	learning->code.chains = CHAINS_MIN;
	assert_int_equal(take_round(NS_PER_S, CHAIN_NOT_PRESENT), CHAIN_EARLY);
	assert_int_equal(take_round(NS_PER_S + EARLY_NS + 1, CHAIN_NOT_PRESENT),
			 CHAIN_NOT_PRESENT);
}

static void samples_count_until_there_is_a_table(void **state)
{
	static const struct unwind_table *const table = (const void *)&early;

	(void)state;
	learning->table.state = TABLE_PENDING;
	take_round(NS_PER_S, CHAIN_WHOLE);
	assert_int_equal(early.samples, 1);
	learning->table.state = TABLE_USED;
	learning->table.table = table;
	assert_int_equal(take_round(2 * NS_PER_S, CHAIN_NOT_PRESENT), CHAIN_NOT_PRESENT);
	assert_int_equal(early.samples, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(chains_that_lead_astray_at_first_are_marked),
		TEST(none_is_marked_once_frame_pointers_suffice),
		TEST(none_is_marked_late),
		TEST(samples_count_until_there_is_a_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
