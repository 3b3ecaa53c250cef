/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "commands/top/screen/curses.h"
#include "commands/top/screen/keys.h"

/* A display before its first samples, so that no table is made. */
struct waiting {
	struct profile_options options;
	struct view view;
	struct feed feed;
	struct display display;
	struct keys keys;
};

static int set_up(void **state)
{
	struct waiting *waiting = calloc(1, sizeof(*waiting));

	assert_non_null(waiting);
	waiting->view.options = &waiting->options;
	waiting->view.format = output_find("histogram");
	waiting->feed = FEED_CLOSED;
	display_init(&waiting->display, &waiting->feed, &waiting->view, 0);
	*state = waiting;
	return 0;
}

static int tear_down(void **state)
{
	struct waiting *waiting = *state;

	profile_options_filter(&waiting->options, "", &(struct error){""});
	display_free(&waiting->display);
	free(waiting);
	return 0;
}

static void type_keys(struct waiting *waiting, const char *keys)
{
	for (; *keys; keys++)
		assert_true(keys_take(&waiting->keys, &waiting->display,
				      (unsigned char)*keys));
}

static void check_prompt(const struct waiting *waiting, const char *expected)
{
	struct line prompt;

	assert_true(keys_prompt(&waiting->keys, &prompt));
	assert_string_equal(prompt.text, expected);
}

static void test_answer(void **state)
{
	struct waiting *waiting = *state;
	struct line prompt;

	type_keys(waiting, "/mai\b\bain");
	check_prompt(waiting, "only samples with a function that matches (regular "
			      "expression): main_");
	type_keys(waiting, "\n");
	assert_false(keys_prompt(&waiting->keys, &prompt));
	assert_string_equal(waiting->view.filter, "main");
	assert_non_null(waiting->options.rules.filter.symbol);
	type_keys(waiting, "/\n");
	assert_string_equal(waiting->view.filter, "");
	assert_null(waiting->options.rules.filter.symbol);
}

/* Keys of commands are characters of an answer. */
static void test_answer_of_commands(void **state)
{
	struct waiting *waiting = *state;

	type_keys(waiting, "/qhj");
	check_prompt(waiting, "only samples with a function that matches (regular "
			      "expression): qhj_");
	assert_false(waiting->display.is_help);
}

static void test_backspace_in_utf8(void **state)
{
	struct waiting *waiting = *state;

	type_keys(waiting, "wä€");
	check_prompt(waiting, "save as (empty: uniprof.data): ä€_");
	keys_take(&waiting->keys, &waiting->display, CURSES_KEY_BACKSPACE);
	check_prompt(waiting, "save as (empty: uniprof.data): ä_");
	type_keys(waiting, "\x7f\x7f");
	check_prompt(waiting, "save as (empty: uniprof.data): _");
}

static void test_escape(void **state)
{
	struct waiting *waiting = *state;
	struct line prompt;

	type_keys(waiting, "/main\033");
	assert_false(keys_prompt(&waiting->keys, &prompt));
	assert_string_equal(waiting->view.filter, "");
	type_keys(waiting, "/");
	check_prompt(waiting, "only samples with a function that matches (regular "
			      "expression): _");
}

/* A wrong answer changes nothing, and the next command takes the note away. */
static void test_note(void **state)
{
	struct waiting *waiting = *state;

	type_keys(waiting, "/main\n/(\n");
	assert_string_equal(waiting->view.filter, "main");
	assert_non_null(strstr(waiting->display.note.text, "invalid regular expression"));
	type_keys(waiting, "j");
	assert_string_not_equal(waiting->display.note.text, "");
	type_keys(waiting, "t");
	assert_string_equal(waiting->display.note.text, "");
	type_keys(waiting, "s");
	assert_string_equal(waiting->display.note.text, "sorted by total");
}

static void test_scrolling(void **state)
{
	struct waiting *waiting = *state;
	struct table *table = &waiting->display.table;
	const struct {
		int key;
		size_t first;
	} keys[] = {
		{'k', 0},
		{'j', 1},
		{CURSES_KEY_NEXT_PAGE, 5},
		{CURSES_KEY_DOWN, 6},
		{CURSES_KEY_END, 15},
		{CURSES_KEY_NEXT_PAGE, 15},
		{CURSES_KEY_LAST_PAGE, 11},
		{CURSES_KEY_UP, 10},
		{CURSES_KEY_HOME, 0},
	};

	table->line_count = 23;
	table->heading_count = 3;
	display_set_page(&waiting->display, 5);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		keys_take(&waiting->keys, &waiting->display, keys[i].key);
		assert_int_equal(table->first, keys[i].first);
	}
}

static void test_quit(void **state)
{
	struct waiting *waiting = *state;

	type_keys(waiting, "h");
	assert_true(waiting->display.is_help);
	assert_false(keys_take(&waiting->keys, &waiting->display, 'q'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answer, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_answer_of_commands, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_backspace_in_utf8, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_escape, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_note, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_scrolling, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_quit, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
