/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_LINE_H
#define UNIPROF_COMMANDS_TOP_LINE_H

/* A line of text for the terminal. */
struct line {
	char text[512];
};

/* Formats the text, truncated to what fits. Bytes that are not valid UTF-8 or that a
 * terminal would interpret become '?' (text_character()). */
void line_set(struct line *line, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
