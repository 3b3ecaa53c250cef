/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/notify.h"

#include <stdarg.h>
#include <stdio.h>

void notify(notify_function *to, const char *format, ...)
{
	char line[2048];
	va_list args;

	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	to(line);
}
