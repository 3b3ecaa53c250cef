/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/command/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/command/status_line.h"
#include "base/error.h"
#include "base/text.h"

void message(const char *command, const char *format, ...)
{
	char line[2048];
	size_t used, most = sizeof(line) - 1; /* without the line's end */
	va_list args;

	used = (size_t)snprintf(
		line, most, "%suniprof %s: ", status_line_eraser(STDERR_FILENO), command);
	va_start(args, format);
	vsnprintf(line + used, most - used, format, args);
	va_end(args);
	text_make_printable(line + used);
	used = strlen(line);
	line[used++] = '\n';
	/* stdio also makes other system calls, which the seccomp filter refuses. */
	if (write(STDERR_FILENO, line, used) < 0)
		return;
}

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
