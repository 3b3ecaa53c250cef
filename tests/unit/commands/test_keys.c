/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

static void test_cursor(void **state)
{
	struct waiting *waiting = *state;
	struct table *table = &waiting->display.table;
	char text[256] = "# heading\n#\n#  self  function\n";
	const struct {
		int key;
		size_t cursor, first;
	} keys[] = {
		{'k', 0, 0},
		{'j', 1, 0},
		{CURSES_KEY_NEXT_PAGE, 5, 1},
		{CURSES_KEY_DOWN, 6, 2},
		{CURSES_KEY_END, 19, 15},
		{CURSES_KEY_NEXT_PAGE, 19, 15},
		{CURSES_KEY_LAST_PAGE, 15, 15},
		{CURSES_KEY_UP, 14, 14},
		{CURSES_KEY_HOME, 0, 0},
	};

	for (char row = 'a'; row < 'a' + 20; row++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%10c\n", row);
	table_set(table, strdup(text), false);
	table_set_page(table, 5);
	assert_int_equal(table->heading_count, 3);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		keys_take(&waiting->keys, &waiting->display, keys[i].key);
		assert_int_equal(table->cursor, keys[i].cursor);
		assert_int_equal(table->first, keys[i].first);
	}
	/* The cursor stays with its row, unless it is at the top. */
	table_set(table, strdup("        z\n        a\n"), false);
	assert_int_equal(table->cursor, 0);
	table_move(table, 1);
	table_set(table, strdup("        a\n        z\n        y\n"), false);
	assert_string_equal(table_at_cursor(table)->name, "        a");
	table_set(table, strdup(""), false);
	assert_null(table_at_cursor(table));
	type_keys(waiting, "jk\n+-");
}

/* Checks the names of the rows that are shown, in order. */
static void check_shown(const struct table *table, const char *names)
{
	char shown[256] = "";

	for (size_t i = 0; i < table->shown_count; i++) {
		const struct table_row *row = &table->rows[table->shown[i]];

		snprintf(shown + strlen(shown), sizeof(shown) - strlen(shown), "%s%s ",
			 row->name, table_is_closed(table, row) ? "+" : "");
	}
	assert_string_equal(shown, names);
}

static void test_branches(void **state)
{
	static const char tree[] = "# heading\n"
				   " 90.0%  main\n"
				   "        |--50.0%--middle\n"
				   "        |         one\n"
				   "        |         |--40.0%--leaf\n"
				   "        |         `--5.0%--`--9%--|\n"
				   "        |                  two\n"
				   "        `--30.0%--idle\n"
				   " 10.0%  9%\n"
				   "        5x\n";
	struct waiting *waiting = *state;
	struct table *table = &waiting->display.table;

	waiting->view.format = output_find("tree");
	table_set(table, strdup(tree), true);
	table_set_page(table, 20);
	check_shown(table, "main middle one leaf `--9%--| two idle 9% 5x ");
	/* Of a row that goes on with a branch, too. */
	type_keys(waiting, "jj\n");
	check_shown(table, "main middle+ idle 9% 5x ");
	assert_string_equal(table_at_cursor(table)->name, "middle");
	/* Closed branches stay closed in the next table. */
	table_set(table, strdup(tree), true);
	check_shown(table, "main middle+ idle 9% 5x ");
	type_keys(waiting, "\n-");
	check_shown(table, "main+ 9%+ ");
	type_keys(waiting, "\n");
	check_shown(table, "main middle+ idle 9%+ ");
	table_open(table, "9%");
	check_shown(table, "main middle+ idle 9% 5x ");
	assert_string_equal(table_at_cursor(table)->name, "9%");
	table_open(table, "leaf");
	check_shown(table, "main middle one leaf `--9%--|+ idle 9% 5x ");
	table_open(table, "nothing");
	assert_string_equal(table_at_cursor(table)->name, "leaf");
	type_keys(waiting, "+");
	check_shown(table, "main middle one leaf `--9%--| two idle 9% 5x ");
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
		cmocka_unit_test_setup_teardown(test_cursor, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_branches, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_quit, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
