/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_COMMAND_STATUS_LINE_H
#define UNIPROF_BASE_COMMAND_STATUS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A line at the bottom of a terminal that is rewritten in place, for progress. The cursor
 * stays at the end of the line, so the next output must start with status_line_eraser(),
 * or follow status_line_clear().
 */
struct status_line {
	int fd;	     /* -1: there is no terminal, and nothing is shown */
	pid_t group; /* this process's group, asked before seccomp forbids it */
	bool shown;  /* there is text on the line */
};

/*
 * Opens the terminal that @fd refers to once more, so that writing to a terminal that the
 * user has stopped (Ctrl-S) drops text and never waits. There is no line if @fd is not a
 * terminal, can't erase ($TERM), or can't be opened.
 */
void status_line_open(struct status_line *line, int fd);
void status_line_close(struct status_line *line);

/* Returns the number of columns for text, which can change at any time; 0: no line. */
size_t status_line_columns(const struct status_line *line);

/* Shows @text, which must be ASCII, truncated to the terminal's width. Nothing happens
 * while the process is in the background. */
void status_line_show(struct status_line *line, const char *text);

/* Removes the text, if any is shown. */
void status_line_clear(struct status_line *line);

/* Returns text to print to @fd before a message, in the same write(), which erases a
 * status line. Empty if @fd is not a terminal that can erase. */
const char *status_line_eraser(int fd);

#endif
