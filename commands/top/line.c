/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/line.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/text.h"

void line_set(struct line *line, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(line->text, sizeof(line->text), format, args);
	va_end(args);
	text_make_printable(line->text);
}
