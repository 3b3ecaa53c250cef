/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_COMMAND_MESSAGE_H
#define UNIPROF_BASE_COMMAND_MESSAGE_H

/*
 * Prints "uniprof @command: " and the message to standard error, as one line in a single
 * write(), in place of a status line (base/command/status_line.h) that another thread may
 * show. A message of more than 2 KiB is truncated.
 */
void message(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(1, 2)));

/*
 * Prints one line to standard error: what is wrong with the command line of
 * `uniprof @command`, and how to get help. Returns EXIT_USAGE.
 */
int usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(1, 2)));

#endif
