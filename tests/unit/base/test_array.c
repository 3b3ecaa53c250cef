/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/array.h"

static void a_grown_array_keeps_its_contents_and_new_elements_are_zero(void **state)
{
	uint32_t *array = NULL;

	(void)state;
	assert_true(array_grow(&array, 1000, sizeof(*array)));
	for (uint32_t i = 0; i < 1000; i++)
		array[i] = ~i;
	/* Memory beyond the 10 elements may have old contents. */
	assert_true(array_grow(&array, 10, sizeof(*array)));
	assert_true(array_grow_zeroed(&array, 10, 1000, sizeof(*array)));
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(array[i], i < 10 ? ~i : 0);
	free(array);
}

static void a_size_that_overflows_is_refused(void **state)
{
	uint32_t *array = NULL, *same;

	(void)state;
	assert_true(array_grow_zeroed(&array, 0, 1, sizeof(*array)));
	same = array;
	assert_false(array_grow(&array, SIZE_MAX / sizeof(*array) + 2, sizeof(*array)));
	assert_false(array_grow_zeroed(&array, 1, SIZE_MAX / sizeof(*array) + 2,
				       sizeof(*array)));
	assert_ptr_equal(array, same);
	assert_int_equal(array[0], 0);
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_grown_array_keeps_its_contents_and_new_elements_are_zero),
		cmocka_unit_test(a_size_that_overflows_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
