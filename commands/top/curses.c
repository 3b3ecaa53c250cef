/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/curses.h"

#include <dlfcn.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

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
		{&curses->cbreak, "cbreak", false},
		{&curses->noecho, "noecho", false},
		{&curses->keypad, "keypad", false},
		{&curses->nodelay, "nodelay", false},
		{&curses->set_escdelay, "set_escdelay", true},
		{&curses->curs_set, "curs_set", false},
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

int curses_start(struct curses *curses, struct error *err)
{
	const char *type = getenv("TERM");
	void **window;

	if (load_functions(curses, &window, err) < 0)
		return -1;
	setlocale(LC_CTYPE, "");
	if (!curses->newterm(NULL, stdout, stdin))
		return error_set(err,
				 "can't use a terminal of the type '%s' (TERM): use "
				 "--batch N",
				 type ? type : "");
	curses->screen = *window;
	curses->cbreak();
	curses->noecho();
	curses->keypad(curses->screen, true);
	curses->nodelay(curses->screen, true);
	curses->curs_set(0);
	if (curses->set_escdelay)
		curses->set_escdelay(50);
	return 0;
}
