/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/markdown.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* Returns the length of the longest run of backticks in the text. */
static size_t longest_run(const char *text)
{
	size_t longest = 0, run = 0;

	for (; *text; text++) {
		run = *text == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

/* Writes the delimiter of a code span, which must not occur in the code. */
static void put_delimiter(FILE *out, size_t length)
{
	while (length--)
		putc('`', out);
}

void markdown_cell(FILE *out, const char *text, size_t most)
{
	size_t length = strlen(text), delimiter = longest_run(text) + 1;
	/* One blank is removed at both ends of a code span, if it has them. */
	bool is_padded = !length || text[0] == '`' || text[length - 1] == '`' ||
			 text[0] == ' ' || text[length - 1] == ' ';
	char before = 0;

	put_delimiter(out, delimiter);
	if (is_padded)
		putc(' ', out);
	while (*text && most--) {
		size_t size = text_character(text);

		/* In a table, "|" ends a cell, also in code, unless a backslash is before
		 * it, and no escape exists for a backslash before "|". */
		if (*text == '|')
			fputs(before == '\\' ? "¦" : "\\|", out);
		else if (size)
			fwrite(text, 1, size, out);
		else
			putc('?', out);
		before = *text;
		text += size ? size : 1;
	}
	if (*text)
		fputs("…", out);
	if (is_padded)
		putc(' ', out);
	put_delimiter(out, delimiter);
}
