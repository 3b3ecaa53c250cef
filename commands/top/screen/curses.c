/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/screen/curses.h"

#include <dlfcn.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/text.h"

/* Prefers libraries with w, which show characters beyond ASCII. NULL: none is installed.
 */
static void *load_library(void)
{
	static const char *const names[] = {"libncursesw.so.6", "libncursesw.so.5",
					    "libncurses.so.6", "libncurses.so.5"};
	void *library = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !library; i++)
		library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	return library;
}

/* Sets the functions of @curses, and @window to the library's variable stdscr. */
static int load_functions(struct curses *curses, void ***window, struct error *err)
{
	const struct {
		void *to; /* the function pointer to set */
		const char *name;
		bool optional;
	} symbols[] = {
		{window, "stdscr", false},
		{&curses->newterm, "newterm", false},
		{&curses->endwin, "endwin", false},
		{&curses->def_shell_mode, "def_shell_mode", false},
		{&curses->resize_term, "resize_term", false},
		{&curses->tigetstr, "tigetstr", false},
		{&curses->cbreak, "cbreak", false},
		{&curses->noecho, "noecho", false},
		{&curses->keypad, "keypad", false},
		{&curses->nodelay, "nodelay", false},
		{&curses->set_escdelay, "set_escdelay", true},
		{&curses->curs_set, "curs_set", false},
		{&curses->has_colors, "has_colors", false},
		{&curses->start_color, "start_color", false},
		{&curses->use_default_colors, "use_default_colors", false},
		{&curses->init_pair, "init_pair", false},
		{&curses->getmaxx, "getmaxx", false},
		{&curses->getmaxy, "getmaxy", false},
		{&curses->wgetch, "wgetch", false},
		{&curses->wmove, "wmove", false},
		{&curses->waddnstr, "waddnstr", false},
		{&curses->wattron, "wattron", false},
		{&curses->wattroff, "wattroff", false},
		{&curses->wclrtoeol, "wclrtoeol", false},
		{&curses->wclrtobot, "wclrtobot", false},
		{&curses->clearok, "clearok", false},
		{&curses->wrefresh, "wrefresh", false},
	};
	void *library = load_library();

	if (!library)
		return error_set(err, "can't load libncursesw.so.6: install ncurses "
				      "(Debian: libncursesw6), or use --batch N");
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *symbol = dlsym(library, symbols[i].name);

		if (!symbol && !symbols[i].optional)
			return error_set(err, "the ncurses library has no %s",
					 symbols[i].name);
		memcpy(symbols[i].to, &symbol, sizeof(symbol));
	}
	return 0;
}

static void environment_set(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 1);
}

/* The library asks the terminal for its size in many places, but believes these variables
 * more. */
static void announce_size(const struct terminal *terminal)
{
	environment_set("LINES", terminal->rows);
	environment_set("COLUMNS", terminal->columns);
}

/* Adds what endwin() sends: normal characters, cursor and keys, the other screen. */
static void note_leave(const struct curses *curses, struct terminal *terminal)
{
	static const char *const names[] = {"sgr0", "cnorm", "rmcup", "rmkx"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *string = curses->tigetstr(names[i]);

		if (string && string != (const char *)-1)
			terminal_leave_by(terminal, string);
	}
}

/* Red and green on the terminal's own page. */
static void start_colours(struct curses *curses)
{
	curses->has_colours = text_may_have_colours() && curses->has_colors() &&
			      curses->start_color() == 0 &&
			      curses->use_default_colors() == 0 &&
			      curses->init_pair(1, 1, -1) == 0 &&
			      curses->init_pair(2, 2, -1) == 0;
}

int curses_start(struct curses *curses, struct terminal *terminal, struct error *err)
{
	const char *type = getenv("TERM");
	void **window;

	if (load_functions(curses, &window, err) < 0)
		return -1;
	setlocale(LC_CTYPE, "");
	announce_size(terminal);
	if (!curses->newterm(NULL, stdout, stdin))
		return error_set(err,
				 "can't use a terminal of the type '%s' (TERM): use "
				 "--batch N",
				 type ? type : "");
	curses->screen = *window;
	note_leave(curses, terminal);
	curses->cbreak();
	curses->noecho();
	curses->keypad(curses->screen, true);
	curses->nodelay(curses->screen, true);
	curses->curs_set(0);
	start_colours(curses);
	if (curses->set_escdelay)
		curses->set_escdelay(50);
	return 0;
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/*
 * Changes the size in two steps: in one, the library would first make windows with the
 * larger number of rows and of columns. If it gets no memory for a line, it frees others
 * that stay in use (wresize() of versions 5 to 6.6), so the limit for reports
 * (report/load/memory.h) is lifted.
 */
int curses_resize(struct curses *curses, const struct terminal *terminal,
		  struct error *err)
{
	int rows = smaller(terminal->rows, curses->getmaxy(curses->screen));
	int columns = smaller(terminal->columns, curses->getmaxx(curses->screen));
	struct rlimit memory, most;
	int status;

	announce_size(terminal);
	getrlimit(RLIMIT_DATA, &memory);
	most = (struct rlimit){memory.rlim_max, memory.rlim_max};
	setrlimit(RLIMIT_DATA, &most);
	status = curses->resize_term(rows, columns);
	if (status == 0)
		status = curses->resize_term(terminal->rows, terminal->columns);
	setrlimit(RLIMIT_DATA, &memory);
	if (status != 0)
		return error_set(err,
				 "out of memory for a terminal of %d x %d characters",
				 terminal->columns, terminal->rows);
	curses->clearok(curses->screen, true);
	return 0;
}
