/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_COMMAND_USAGE_H
#define UNIPROF_BASE_COMMAND_USAGE_H

/*
 * Prints one line to stderr: what is wrong with the command line of `uniprof @command`,
 * and how to get help. Returns EXIT_USAGE.
 */
int usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(1, 2)));

#endif
