/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

int error_set(struct error *err, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	text_make_printable(err->text);
	return -1;
}

int error_errno(struct error *err, int errnum, const char *format, ...)
{
	va_list args;
	size_t used;

	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", strerror(errnum));
	text_make_printable(err->text);
	return -1;
}

int error_mlock(struct error *err, int errnum, size_t size)
{
	return error_errno(err, errnum,
			   "can't lock %zu KiB of memory (needs CAP_IPC_LOCK, or a "
			   "higher limit: ulimit -l)",
			   size / 1024);
}
