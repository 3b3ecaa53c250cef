/* SPDX-License-Identifier: BSD-3-Clause */
#include "command/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/status_line.h"

void message(const char *command, const char *format, ...)
{
	char text[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	dprintf(STDERR_FILENO, "%suniprof %s: %s\n", status_line_eraser(STDERR_FILENO),
		command, text);
}
