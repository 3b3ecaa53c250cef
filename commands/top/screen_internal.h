/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_SCREEN_INTERNAL_H
#define UNIPROF_COMMANDS_TOP_SCREEN_INTERNAL_H

#include "commands/top/curses.h"
#include "commands/top/top.h"

struct screen;

/* A question in the last line. */
struct prompt {
	int key;
	const char *label;
	void (*answer)(struct screen *screen, const char *text);
};

/* What is on the terminal. */
struct screen {
	struct top *top;
	struct curses curses;
	char *text;   /* of the table */
	char **lines; /* of it */
	size_t line_count, line_room;
	size_t heading_count;	     /* the first of them */
	size_t first, page;	     /* the first row shown, and how many fit */
	uint64_t next;		     /* when to make the next table, ns */
	struct error note;	     /* in the last line; empty: the keys */
	const struct prompt *prompt; /* NULL: none */
	char typed[256];	     /* its answer so far */
	char filter[256];	     /* "": none */
	int frozen;		     /* a copy of what is shown; -1: it is not frozen */
	char frozen_path[32];
	bool is_help, quit;
};

/* Makes a new table of the same samples, or of new ones. */
void screen_update(struct screen *screen);

/* Scrolls by so many rows, if possible. */
void screen_scroll(struct screen *screen, long rows);

/* Sets the last line. */
#define screen_note(screen, ...) ((void)error_set(&(screen)->note, __VA_ARGS__))

/* The recording that is shown. */
static inline const char *screen_path(const struct screen *screen)
{
	return screen->frozen >= 0 ? screen->frozen_path : screen->top->recent.path;
}

#endif
