/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_USAGE_H
#define UNIPROF_BASE_USAGE_H

/*
 * Says on stderr, in one line, what is wrong with the command line of `uniprof
 * @command`, and where help is. Returns EXIT_USAGE.
 */
int usage_error(const char *command, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(1, 2)));

/*
 * The same for what getopt_long() returned ':' or '?' as @option for; @shorts are
 * the options that it was given. Options without a letter are numbered from
 * USAGE_LONG_ONLY.
 */
int usage_bad_option(const char *command, int option, const char *shorts, char **argv);

#define USAGE_LONG_ONLY 256

#endif
