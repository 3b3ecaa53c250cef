/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_TEXT_H
#define UNIPROF_REPORT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Texts that come from guests and files, made fit for line-based outputs and
 * terminals.
 */

/*
 * How many bytes the character at the start of @text has when it is valid UTF-8
 * (RFC 3629) that a terminal would not act on; 0 when it is not, and at the end.
 */
size_t text_character(const char *text);

/*
 * Copies @from into @to, which has room for strlen(@from) + 1 bytes and may be
 * the same. Whatever text_character() refuses becomes '?' byte by byte, and ';'
 * becomes ':', as it stands between the frames of folded stacks.
 */
void text_clean(char *to, const char *from);

/*
 * Copies @from into @to, cut to @size bytes: all but ASCII letters, digits and
 * "_-+.:" becomes '_', so that it is one word for any reader.
 */
void text_word(char *to, size_t size, const char *from);

/* How many columns the terminal has that @out is; SIZE_MAX when it is none, or does not
 * say. */
size_t text_columns(FILE *out);

/*
 * Writes the clean @text, as much of it as @columns hold and "..." where that is not all.
 * Something is left to read even where there is no room.
 */
void text_put(FILE *out, const char *text, size_t columns);

#define TEXT_TIME_SIZE 40

/*
 * Writes @ns since 1970-01-01 UTC into @to, which has room for TEXT_TIME_SIZE
 * bytes, as ISO 8601 to the second: in UTC, or in the local zone with its offset.
 */
void text_time(char *to, uint64_t ns, bool utc);

#endif
