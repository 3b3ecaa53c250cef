/* SPDX-License-Identifier: BSD-3-Clause */

/* Text from guests and files is made safe for a terminal. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"

/* Bytes that control a terminal or reorder its text: ESC, CSI in both forms, DEL, invalid
 * UTF-8, and the controls of bidirectional text. */
static const char *const harmful[] = {
	"\x1b",		"\x07",		"\n",		"\x7f",		"\xc2\x9b",
	"\xc2\x80",	"\xc2\x9f",	"\x9b",		"\xff",		"\xc3",
	"\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6",
	"\xe2\x81\xa9", "\xd8\x9c",
};

static const char *const harmless[] = {
	" ",
	"~",
	"\xc2\xa0",
	"\xc3\xa9",
	"\xd8\x9b",
	"\xe2\x80\x8d",
	"\xe2\x80\x90",
	"\xe2\x80\xaf",
	"\xe2\x81\xa5",
	"\xe2\x81\xaa",
	"\xf0\x9f\x90\xab",
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Writes "a", @part with each byte replaced by @byte (if not 0), and "b". */
static void expected(char to[16], const char *part, char byte)
{
	size_t length = strlen(part);

	snprintf(to, 16, "a%sb", part);
	if (byte)
		memset(to + 1, byte, length);
}

static void check_part(const char *part, char byte)
{
	char given[16], wanted[16], clean[16];
	struct error err;

	expected(given, part, 0);
	expected(wanted, part, byte);
	text_clean(clean, given);
	assert_string_equal(clean, wanted);
	assert_int_equal(error_set(&err, "%s", given), -1);
	assert_string_equal(err.text, wanted);
	assert_int_equal(error_errno(&err, 2, "%s", given), -1);
	assert_memory_equal(err.text, wanted, strlen(wanted));
}

static void control_characters_are_replaced(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(harmful); i++)
		check_part(harmful[i], '?');
}

static void other_characters_are_unchanged(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT_OF(harmless); i++)
		check_part(harmless[i], 0);
}

/* A message may be cut in the middle of a character. */
static void a_truncated_message_is_valid_text(void **state)
{
	char text[sizeof(((struct error *)0)->text) + 2];
	struct error err;

	(void)state;
	for (size_t i = 0; i + 2 < sizeof(text); i += 2)
		memcpy(text + i, "\xc3\xa9", 3);
	error_set(&err, ".%s", text);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	for (const char *at = err.text; *at; at += text_character(at))
		assert_true(text_character(at) > 0);
	error_set(&err, "%s", text);
	assert_int_equal(err.text[sizeof(err.text) - 2], '?');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(control_characters_are_replaced),
		cmocka_unit_test(other_characters_are_unchanged),
		cmocka_unit_test(a_truncated_message_is_valid_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
