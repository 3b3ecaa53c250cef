/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_SCREEN_CURSES_H
#define UNIPROF_COMMANDS_TOP_SCREEN_CURSES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "commands/top/screen/terminal.h"

/*
 * ncurses, loaded when the terminal is used, so that everything else works without it.
 * Numbers and types are from <ncurses.h>, where they do not differ between versions 5 and
 * 6.
 */
#define CURSES_REVERSE (1 << 18) /* A_REVERSE */
#define CURSES_BOLD    (1 << 21) /* A_BOLD */
#define CURSES_RED     (1 << 8)	 /* COLOR_PAIR(1), as curses_start() sets it */
#define CURSES_GREEN   (2 << 8)

#define CURSES_NO_KEY	     (-1) /* ERR */
#define CURSES_KEY_DOWN	     0402
#define CURSES_KEY_UP	     0403
#define CURSES_KEY_HOME	     0406
#define CURSES_KEY_BACKSPACE 0407
#define CURSES_KEY_NEXT_PAGE 0522
#define CURSES_KEY_LAST_PAGE 0523
#define CURSES_KEY_ENTER     0527
#define CURSES_KEY_END	     0550

struct curses {
	void *screen; /* WINDOW * */
	bool has_colours;
	void *(*newterm)(const char *type, FILE *out, FILE *in);
	int (*endwin)(void);
	int (*def_shell_mode)(void);
	int (*resize_term)(int rows, int columns);
	char *(*tigetstr)(const char *name);
	int (*cbreak)(void);
	int (*noecho)(void);
	int (*keypad)(void *window, bool on);
	int (*nodelay)(void *window, bool on);
	int (*set_escdelay)(int ms); /* NULL: the library has no such function */
	int (*curs_set)(int visible);
	bool (*has_colors)(void);
	int (*start_color)(void);
	int (*use_default_colors)(void);
	int (*init_pair)(short pair, short text, short page);
	int (*getmaxx)(const void *window);
	int (*getmaxy)(const void *window);
	int (*wgetch)(void *window);
	int (*wmove)(void *window, int y, int x);
	int (*waddnstr)(void *window, const char *text, int bytes);
	int (*wattron)(void *window, int attributes);
	int (*wattroff)(void *window, int attributes);
	int (*wclrtoeol)(void *window);
	int (*wclrtobot)(void *window);
	int (*clearok)(void *window, bool on);
	int (*wrefresh)(void *window);
};

/* Loads the library and takes over the terminal, until endwin(). What must be sent to the
 * terminal after a fault is added to @terminal. -1 with @err set on failure; the terminal
 * is then unchanged. */
int curses_start(struct curses *curses, struct terminal *terminal, struct error *err);

/* Gives the screen the size of the terminal, all of which is drawn again. -1 with @err
 * set if memory is exhausted: only endwin() may follow. */
int curses_resize(struct curses *curses, const struct terminal *terminal,
		  struct error *err);

#endif
