/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_NOTIFY_H
#define UNIPROF_RECORD_NOTIFY_H

/* Prints a line to the user, given without its line end. Implemented by the command that
 * records. */
typedef void notify_function(const char *line);

/* Makes the line as printf() does, and calls @to with it. A line of more than 2 KiB is
 * truncated. */
void notify(notify_function *to, const char *format, ...)
	__attribute__((format(printf, 2, 3), nonnull(1, 2)));

#endif
