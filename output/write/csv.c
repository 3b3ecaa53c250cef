/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/csv.h"

#include <stdbool.h>
#include <string.h>

/*
 * Spreadsheets take such a text for a formula, also if it is quoted (OWASP, "CSV
 * Injection"): the characters, and their full-width forms, U+FF1D, U+FF0B, U+FF0D,
 * U+FF20. The apostrophe itself is one of them, so that the text can be restored.
 */
static bool may_be_formula(const char *text)
{
	static const char *const wide[] = {"\xef\xbc\x9d", "\xef\xbc\x8b", "\xef\xbc\x8d",
					   "\xef\xbc\xa0"};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		if (strncmp(text, wide[i], strlen(wide[i])) == 0)
			return true;
	return *text && strchr("=+-@\t\r\n'", *text);
}

void csv_text(FILE *out, const char *text)
{
	bool is_marked = may_be_formula(text);

	if (!is_marked && !strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputs(is_marked ? "\"'" : "\"", out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}
