/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_ERROR_H
#define UNIPROF_BASE_ERROR_H

#include <stddef.h>

/*
 * An error message: one line that a user can act on. Library code fills it in and
 * returns -1 (or NULL); only commands print it and choose the exit code.
 */
struct error {
	char text[512];
};

/* The exit codes of every uniprof command. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_DAMAGED = 3, /* the recording was damaged; its intact part was reported */
};

/*
 * Formats the message into @err, replacing the old message; a message that does not fit
 * is truncated. Names in messages may come from guests and files, so bytes that are not
 * valid UTF-8 or that a terminal would interpret become '?' (text_character()). Always
 * returns -1, so that a function can `return error_set(err, ...)`.
 */
int error_set(struct error *err, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Like error_set(), with ": " and strerror(@errnum) appended. */
int error_errno(struct error *err, int errnum, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Says that mlock(2) has refused @size bytes with @errnum, and what permits to lock them.
 * Always returns -1. */
int error_mlock(struct error *err, int errnum, size_t size);

#endif
