/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/csv.h"

#include <string.h>

void csv_text(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"")) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', out);
		putc(*text, out);
	}
	putc('"', out);
}
