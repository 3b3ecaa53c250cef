/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/screen/keys.h"

#include <string.h>

#include "commands/top/screen/curses.h"

#define ESCAPE 27

/* A question that a key asks in the last line, and the action for its answer. */
struct question {
	int key;
	const char *label;
	void (*answer)(struct display *display, const char *text);
};

static const struct question questions[] = {
	{'/', "only samples with a function that matches (regular expression)",
	 display_set_filter},
	{'d', "only these domains (names or ids, separated by commas; empty: all)",
	 display_set_domains},
	{'y', "symbol file (FILE[@OFFSET][,domain=DOMAIN])", display_add_symbols},
	{'w', "save as (empty: uniprof.data)", display_save},
};

static void keys_ask(struct keys *keys, int key)
{
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		if (questions[i].key == key)
			keys->question = &questions[i];
	keys->answer[0] = 0;
}

static void take_answer(struct keys *keys, struct display *display, int key)
{
	const struct question *question = keys->question;
	size_t length = strlen(keys->answer);

	switch (key) {
	case '\n':
	case '\r':
	case CURSES_KEY_ENTER:
		keys->question = NULL;
		question->answer(display, keys->answer);
		break;
	case ESCAPE:
		keys->question = NULL;
		break;
	case '\b':
	case 0x7f:
	case CURSES_KEY_BACKSPACE:
		/* All bytes of a character of UTF-8. */
		while (length && (keys->answer[--length] & 0xc0) == 0x80)
			;
		keys->answer[length] = 0;
		break;
	default:
		if (key < ' ' || key > 0xff || length + 1 >= sizeof(keys->answer))
			break;
		keys->answer[length] = (char)key;
		keys->answer[length + 1] = 0;
	}
}

/* Carries out a command. False if the command is to quit. */
static bool take_command(struct keys *keys, struct display *display, int key)
{
	switch (key) {
	case 'q':
		return false;
	case 'h':
	case '?':
		display->is_help = !display->is_help;
		break;
	case 't':
		display_toggle_tree(display);
		break;
	case 'i':
		display_toggle_inverted(display);
		break;
	case 'v':
		display_toggle_vcpus(display);
		break;
	case 'b':
		display_next_waits(display);
		break;
	case 's':
		display_sort_next(display);
		break;
	case '\n':
	case '\r':
	case CURSES_KEY_ENTER:
		display_open(display);
		break;
	case '+':
	case '-':
		table_open_all(&display->table, key == '+');
		break;
	case 'f':
	case ' ':
		display_toggle_frozen(display);
		break;
	default:
		keys_ask(keys, key);
	}
	return true;
}

/* Moves the cursor if the key is for that; otherwise returns false. */
static bool take_cursor(struct display *display, int key)
{
	struct table *table = &display->table;
	const long page = table->page > 1 ? (long)table->page - 1 : 1;
	const long all = (long)table->row_count;

	switch (key) {
	case CURSES_KEY_DOWN:
	case 'j':
		table_move(table, 1);
		return true;
	case CURSES_KEY_UP:
	case 'k':
		table_move(table, -1);
		return true;
	case CURSES_KEY_NEXT_PAGE:
		table_move(table, page);
		return true;
	case CURSES_KEY_LAST_PAGE:
		table_move(table, -page);
		return true;
	case CURSES_KEY_HOME:
		table_move(table, -all);
		return true;
	case CURSES_KEY_END:
		table_move(table, all);
		return true;
	default:
		return false;
	}
}

bool keys_take(struct keys *keys, struct display *display, int key)
{
	if (keys->question) {
		take_answer(keys, display, key);
		return true;
	}
	if (take_cursor(display, key))
		return true;
	line_set(&display->note, "%s", "");
	return take_command(keys, display, key);
}

bool keys_prompt(const struct keys *keys, struct line *line)
{
	if (!keys->question)
		return false;
	line_set(line, "%s: %s_", keys->question->label, keys->answer);
	return true;
}

const char *keys_help(size_t i)
{
	static const char *const lines[] = {
		"",
		"  Enter    who calls the function; in the tree, open or close a branch",
		"  t        a call tree, or the table of functions again",
		"  i        in the tree, start at the sampled functions",
		"  + -      in the tree, open or close all branches",
		"  v        a column for each vCPU, or none",
		"  b        with --waits: what threads wait for, by function and by "
		"thread",
		"  s        sort by self, total or name",
		"  /        only samples with a function that matches",
		"  d        only some domains",
		"  y        read another symbol file",
		"  f space  freeze what is shown, or go on",
		"  w        save what is shown as a recording",
		"",
		"  up down page-up page-down home end j k  move the cursor",
		"  Ctrl-Z   stop, with the sampling; fg goes on",
		"  h ?      this help",
		"  q        quit",
	};

	return i < sizeof(lines) / sizeof(lines[0]) ? lines[i] : NULL;
}
