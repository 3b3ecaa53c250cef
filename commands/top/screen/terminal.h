/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_SCREEN_TERMINAL_H
#define UNIPROF_COMMANDS_TOP_SCREEN_TERMINAL_H

#include <signal.h>
#include <stdbool.h>
#include <termios.h>

/* Size used of a terminal that is larger: ncurses then needs some 30 MB. */
#define TERMINAL_ROWS_MAX    400
#define TERMINAL_COLUMNS_MAX 1000

/* Number of signals that report a fault of this process. */
#define TERMINAL_FAULTS 9

/* The terminal that standard output is, and how to restore it after a fault. */
struct terminal {
	int rows, columns;   /* size, within the maximum */
	struct termios mode; /* before anything was changed */
	bool has_mode;
	char leave[256]; /* sent to the terminal after a fault */
	struct sigaction before[TERMINAL_FAULTS];
	stack_t stack_before;
	char stack[1 << 15]; /* for the handler: a fault may have used up the other one */
};

/* Reads the terminal's size and mode. From now until terminal_unguard(), a fault of this
 * process first sets the mode again and sends @leave. */
void terminal_guard(struct terminal *terminal);
void terminal_unguard(struct terminal *terminal);

/* Reads the mode again, after others have used the terminal. */
void terminal_read_mode(struct terminal *terminal);
/* Reads the size again; what the terminal does not know (0) is left as it was. */
void terminal_read_size(struct terminal *terminal);

/* Adds a string of terminfo(5) to @leave, without its padding, if it fits. */
void terminal_leave_by(struct terminal *terminal, const char *string);

#endif
