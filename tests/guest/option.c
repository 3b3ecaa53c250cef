/* The command line. */
#include "guest.h"

const char *option_text(const char *line, const char *name)
{
	while (*line) {
		const char *n = name;

		while (*line == ' ')
			line++;
		while (*n && *line == *n) {
			line++;
			n++;
		}
		if (!*n && *line == '=')
			return line + 1;
		while (*line && *line != ' ')
			line++;
	}
	return NULL;
}

unsigned long option_number(const char *line, const char *name, unsigned long otherwise)
{
	const char *text = option_text(line, name);
	unsigned long value = 0;

	if (!text)
		return otherwise;
	while (*text >= '0' && *text <= '9')
		value = value * 10 + (unsigned long)(*text++ - '0');
	return value;
}
