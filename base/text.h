/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_TEXT_H
#define UNIPROF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Makes text from guests and files safe for line-based formats and terminals. */

/* Returns the size in bytes of the character at the start of @text; 0 if it is not valid
 * UTF-8 (RFC 3629), if a terminal would interpret it, and at the end of the text. */
size_t text_character(const char *text);

/* Replaces each byte that text_character() rejects by '?'. */
void text_make_printable(char *text);

/*
 * Copies @from to @to, which holds strlen(@from) + 1 bytes and may be @from. Each
 * byte that text_character() rejects becomes '?'. ';' becomes ':', because it separates
 * the frames of folded stacks.
 */
void text_clean(char *to, const char *from);

/*
 * Copies @from to @to, truncated to @size bytes. Everything except ASCII letters, digits
 * and "_-+.:" becomes '_', so that the result is a single word.
 */
void text_word(char *to, size_t size, const char *from);

/* Returns the width of the terminal @out in columns; SIZE_MAX if @out is not a terminal
 * or the width is unknown. */
size_t text_columns(FILE *out);

/* Whether terminals may get colours: unless NO_COLOR is set, and not empty
 * (no-color.org). */
bool text_may_have_colours(void);

/*
 * Writes @text, which must be clean, truncated to @columns with "..." at the end. A
 * minimum is written even if @columns is too small.
 */
void text_put(FILE *out, const char *text, size_t columns);

#define TEXT_UUID_SIZE 37

/* Writes a UUID of 16 bytes to @to, which holds TEXT_UUID_SIZE bytes, as RFC 4122 does.
 */
void text_uuid(char *to, const uint8_t *uuid);

#define TEXT_TIME_SIZE 40

/*
 * Writes the time @ns since 1970-01-01 UTC to @to, which holds TEXT_TIME_SIZE bytes, in
 * ISO 8601 with seconds: in UTC, or in the local time zone with its offset.
 */
void text_time(char *to, uint64_t ns, bool utc);

#endif
