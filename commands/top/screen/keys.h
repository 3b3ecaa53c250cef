/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_SCREEN_KEYS_H
#define UNIPROF_COMMANDS_TOP_SCREEN_KEYS_H

#include "commands/top/display.h"

#define KEYS_SUMMARY \
	"q quit  h help  Enter open  t tree  v vCPUs  s sort  / filter  f freeze"

struct question;

/* The keys typed so far. Starts zeroed. */
struct keys {
	const struct question *question; /* being answered; NULL: none */
	char answer[256];		 /* as typed so far */
};

/* Does what @key, a character or CURSES_KEY_..., is for. False if it is to quit. */
bool keys_take(struct keys *keys, struct display *display, int key);

/* Sets @line to the question and what was typed. False if no question is open. */
bool keys_prompt(const struct keys *keys, struct line *line);

/* A line of the list of keys, counted from 0; NULL after the last. */
const char *keys_help(size_t i);

#endif
