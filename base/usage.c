/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/usage.h"

#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

int usage_error(const char *command, const char *format, ...)
{
	char text[256];
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

int usage_bad_option(const char *command, int option, const char *shorts, char **argv)
{
	const char *word = argv[optind - 1];

	if (option == ':')
		return usage_error(command, "%s needs a value", word);
	if (!optopt)
		return usage_error(command, "unknown option %s", word);
	/* A letter that is known is not refused: it was the long form. */
	if (optopt >= USAGE_LONG_ONLY || strchr(shorts, optopt))
		return usage_error(command, "%s: that option takes no value", word);
	return usage_error(command, "unknown option -%c", optopt);
}
