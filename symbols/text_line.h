/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_TEXT_LINE_H
#define UNIPROF_SYMBOLS_TEXT_LINE_H

/* One line of a symbol list in text form; inside symbols/ only. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A part of the file's bytes. */
struct text {
	const char *at;
	const char *end;
};

static inline size_t text_length(struct text text)
{
	return (size_t)(text.end - text.at);
}

enum line_format {
	FORMAT_UNKNOWN,
	FORMAT_NM,
	FORMAT_COLUMNS,
	FORMAT_OBJDUMP,
};

enum line_kind {
	LINE_BAD,
	LINE_NEUTRAL, /* neither good nor bad: a comment, an undefined symbol */
	LINE_FUNCTION,
	LINE_BOUNDARY, /* not a function, but ends the function before it */
};

struct line {
	uint64_t address;
	uint64_t size; /* bytes; 0: not known */
	uint8_t rank;  /* enum symbols_rank */
	struct text name;
	struct text module; /* empty: the kernel itself, or not a kernel */
};

/* Parses a line, without its line end. The name and module in @line point into it. @line
 * is complete only for functions and boundaries. */
enum line_kind line_parse(enum line_format format, struct text text, struct line *line);

/* Returns the format of a line; FORMAT_UNKNOWN also if it is ambiguous. */
enum line_format line_format(struct text text);

#endif
