/* SPDX-License-Identifier: BSD-3-Clause */

/* base64_write() writes the test vectors of RFC 4648, section 10, and text of any length.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/write/base64.h"

/* Returns the text, which the caller frees. */
static char *encode(const void *data, size_t size)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	base64_write(out, data, size);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static void test_vectors(void **state)
{
	static const char *const vectors[] = {
		"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
	};

	(void)state;
	for (size_t size = 0; size < sizeof(vectors) / sizeof(vectors[0]); size++) {
		char *text = encode("foobar", size);

		assert_string_equal(text, vectors[size]);
		free(text);
	}
}

static void test_all_digits(void **state)
{
	static const uint8_t high[] = {0xff, 0xff, 0xfe, 0xfb, 0xef, 0xbe};
	char *text = encode(high, sizeof(high));

	(void)state;
	assert_string_equal(text, "///+++++");
	free(text);
}

/* Longer than the room for what is written at once. */
static void test_long(void **state)
{
	size_t size = 10000;
	uint8_t *zeros = calloc(size, 1);
	char *text;

	(void)state;
	assert_non_null(zeros);
	text = encode(zeros, size);
	assert_int_equal(strlen(text), (size + 2) / 3 * 4);
	assert_int_equal(strspn(text, "A"), strlen(text) - 2);
	assert_string_equal(text + strlen(text) - 2, "==");
	free(text);
	free(zeros);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_all_digits),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
