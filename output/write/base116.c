/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/base116.h"

#include <stdint.h>
#include <string.h>

#define BASE	     116
#define GROUP	     6 /* bytes */
#define GROUP_DIGITS 7

/* No digits, though they are between the first character and the last one, ~. */
static const char skipped[] = "\a\b\n\r\016\017\032\033&<";

static void set_digits(char digits[BASE])
{
	char next = 1;

	for (unsigned int i = 0; i < BASE; next++)
		if (!strchr(skipped, next))
			digits[i++] = next;
}

/* Sets the digits for @size bytes, 1 to GROUP, at @from. Returns their number. */
static size_t encode_group(char to[GROUP_DIGITS], const char digits[BASE],
			   const uint8_t *from, size_t size)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | from[i];
	for (size_t i = size + 1; i-- > 0; number /= BASE)
		to[i] = digits[number % BASE];
	return size + 1;
}

void base116_write(FILE *out, const void *data, size_t size)
{
	const uint8_t *from = data;
	char digits[BASE], text[GROUP_DIGITS * 512];
	size_t used = 0;

	set_digits(digits);
	for (size_t i = 0; i < size; i += GROUP) {
		size_t rest = size - i;

		used += encode_group(text + used, digits, from + i,
				     rest < GROUP ? rest : GROUP);
		if (used == sizeof(text) || rest <= GROUP) {
			fwrite(text, 1, used, out);
			used = 0;
		}
	}
}
