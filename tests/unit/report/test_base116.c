/* SPDX-License-Identifier: BSD-3-Clause */

/* base116_write() writes known numbers and text of any length. That the page reads what
 * is written, html-agrees of the command-line tests shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "output/write/base116.h"

/* Returns the text, which the caller frees. */
static char *encode(const void *data, size_t size)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	base116_write(out, data, size);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static void test_vectors(void **state)
{
	/* In Python: int.from_bytes(b"foobar"[:size], "big"), digit by digit */
	static const char *const vectors[] = {
		"",	   "\001q", "\002y\013", "\005,s9", "\020D\003:M", "\035xl1\037D",
		"8#8iDUe",
	};

	(void)state;
	for (size_t size = 0; size < sizeof(vectors) / sizeof(vectors[0]); size++) {
		char *text = encode("foobar", size);

		assert_string_equal(text, vectors[size]);
		free(text);
	}
}

static void test_largest(void **state)
{
	static const uint8_t high[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	char *text = encode(high, sizeof(high));

	(void)state;
	assert_string_equal(text, "~H7$`f>\003 ");
	free(text);
}

static int compare_bytes(const void *a, const void *b)
{
	return *(const char *)a - *(const char *)b;
}

/* Longer than the room for what is written at once; all digits, and nothing else. */
static void test_long(void **state)
{
	size_t size = 60000, kinds = 1;
	uint8_t *bytes = malloc(size);
	uint64_t random = 88172645463325252u;
	char *text;

	(void)state;
	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++) {
		random = random * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(random >> 56);
	}
	text = encode(bytes, size);
	assert_int_equal(strlen(text), size / 6 * 7);
	assert_null(strpbrk(text, "\a\b\n\r\016\017\032\033&<\177"));
	qsort(text, size / 6 * 7, 1, compare_bytes);
	for (size_t i = 1; i < size / 6 * 7; i++)
		kinds += text[i] != text[i - 1];
	assert_int_equal(kinds, 116);
	assert_true(*text > 0);
	free(text);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_largest),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
