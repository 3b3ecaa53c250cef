/* SPDX-License-Identifier: BSD-3-Clause */

/* Compares curses.h, which the program is built with, with the library's own header. */
#define NCURSES_NOMACROS
#include <ncurses.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "commands/top/screen/curses.h"

static void test_numbers(void **state)
{
	(void)state;
	assert_int_equal(CURSES_REVERSE, A_REVERSE);
	assert_int_equal(CURSES_BOLD, A_BOLD);
	assert_int_equal(CURSES_NO_KEY, ERR);
	assert_int_equal(CURSES_KEY_DOWN, KEY_DOWN);
	assert_int_equal(CURSES_KEY_UP, KEY_UP);
	assert_int_equal(CURSES_KEY_HOME, KEY_HOME);
	assert_int_equal(CURSES_KEY_BACKSPACE, KEY_BACKSPACE);
	assert_int_equal(CURSES_KEY_NEXT_PAGE, KEY_NPAGE);
	assert_int_equal(CURSES_KEY_LAST_PAGE, KEY_PPAGE);
	assert_int_equal(CURSES_KEY_ENTER, KEY_ENTER);
	assert_int_equal(CURSES_KEY_END, KEY_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
