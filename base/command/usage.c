/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command/usage.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

int usage_error(const char *command, const char *format, ...)
{
	char text[448];
	va_list args;
	struct error line;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	error_set(&line, "uniprof %s: %s (see uniprof %s --help)", command, text,
		  command);
	fprintf(stderr, "%s\n", line.text);
	return EXIT_USAGE;
}
