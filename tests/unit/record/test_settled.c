/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/learning/settled.h"

static struct settled settled;
static uint64_t address[4];

/* A sample with a chain of some addresses in an address space, as unwinding leaves it. */
static struct sample sample_of(uint64_t space, uint32_t count, enum chain_end end)
{
	for (uint32_t i = 0; i < count; i++)
		address[i] = 0x1000 * (i + 1);
	return (struct sample){
		.chain = {.address = address, .count = count, .end = end},
		.process = {.space = space},
	};
}

static int set_up(void **state)
{
	(void)state;
	settled_open(&settled);
	return 0;
}

static void a_studied_chain_gets_the_end_that_it_got_before(void **state)
{
	struct sample sample = sample_of(7, 3, CHAIN_UNKNOWN);

	(void)state;
	assert_false(settled_apply(&settled, &sample));
	sample.chain.end = CHAIN_WHOLE;
	settled_add(&settled, &sample);

	sample = sample_of(7, 3, CHAIN_UNKNOWN);
	assert_true(settled_apply(&settled, &sample));
	assert_int_equal(sample.chain.end, CHAIN_WHOLE);

	settled_forget(&settled);
	sample = sample_of(7, 3, CHAIN_UNKNOWN);
	assert_false(settled_apply(&settled, &sample));
	assert_int_equal(sample.chain.end, CHAIN_UNKNOWN);
}

static void a_chain_that_differs_is_not_settled(void **state)
{
	struct sample sample = sample_of(7, 3, CHAIN_UNKNOWN);

	(void)state;
	settled_apply(&settled, &sample);
	settled_add(&settled, &sample);
	sample = sample_of(8, 3, CHAIN_UNKNOWN);
	assert_false(settled_apply(&settled, &sample));
	sample = sample_of(7, 2, CHAIN_UNKNOWN);
	assert_false(settled_apply(&settled, &sample));
	sample = sample_of(7, 3, CHAIN_NO_PAGE);
	assert_false(settled_apply(&settled, &sample));
	sample = sample_of(7, 3, CHAIN_UNKNOWN);
	address[2]++;
	assert_false(settled_apply(&settled, &sample));
}

static void a_chain_that_the_study_has_shortened_is_studied_again(void **state)
{
	struct sample shorter = sample_of(7, 2, CHAIN_UNKNOWN), sample = shorter;

	(void)state;
	settled_apply(&settled, &shorter);
	sample.chain.count = 3;
	settled_apply(&settled, &sample);
	sample.chain.count = 2;
	sample.chain.end = CHAIN_NOT_CALLED;
	settled_add(&settled, &sample);
	assert_false(settled_apply(&settled, &shorter));
	sample = sample_of(7, 3, CHAIN_UNKNOWN);
	assert_false(settled_apply(&settled, &sample));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_studied_chain_gets_the_end_that_it_got_before,
				       set_up),
		cmocka_unit_test_setup(a_chain_that_differs_is_not_settled, set_up),
		cmocka_unit_test_setup(
			a_chain_that_the_study_has_shortened_is_studied_again, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
