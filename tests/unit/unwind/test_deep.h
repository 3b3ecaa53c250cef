/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TESTS_UNIT_UNWIND_TEST_DEEP_H
#define UNIPROF_TESTS_UNIT_UNWIND_TEST_DEEP_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/chain.h"

/*
 * Checks that of the chain of @count return addresses in callers[], leaf first, and the
 * sampled one before them, the middle is left out.
 */
static inline void expect_gap(const struct chain *chain, unsigned int count,
			      const uint64_t *callers)
{
	const unsigned int inner = CHAIN_MAX - CHAIN_OUTER - 1;

	assert_int_equal(chain->count, CHAIN_MAX);
	assert_true(chain_has_gap(chain));
	for (unsigned int i = 1; i < inner; i++)
		assert_int_equal(chain->address[i], callers[i - 1]);
	assert_int_equal(chain->address[inner], CHAIN_GAP);
	for (unsigned int i = 0; i < CHAIN_OUTER; i++)
		assert_int_equal(chain->address[CHAIN_MAX - 1 - i],
				 callers[count - 1 - i]);
}

#endif
