/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#define LEAST_COLUMNS 20

static bool is_continuation(unsigned char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Returns whether a three-byte character changes the display order of text: U+200E,
 * U+200F, U+202A to U+202E, U+2066 to U+2069 (Unicode's UAX 9, section 2). */
static bool is_bidi_control(const unsigned char *c)
{
	if (c[0] != 0xe2)
		return false;
	if (c[1] == 0x80)
		return c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae);
	return c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9;
}

/* RFC 3629, section 4: no overlong forms, no surrogates, nothing past U+10FFFF. */
size_t text_character(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (c[0] < 0x80)
		return c[0] >= ' ' && c[0] != 0x7f;
	if (c[0] < 0xc2 || c[0] > 0xf4 || !is_continuation(c[1]))
		return 0;
	if (c[0] < 0xe0) /* U+0080 to U+009F are control characters, U+061C is bidi */
		return (c[0] == 0xc2 && c[1] < 0xa0) || (c[0] == 0xd8 && c[1] == 0x9c)
			       ? 0
			       : 2;
	if ((c[0] == 0xe0 && c[1] < 0xa0) || (c[0] == 0xed && c[1] > 0x9f) ||
	    !is_continuation(c[2]))
		return 0;
	if (c[0] < 0xf0)
		return is_bidi_control(c) ? 0 : 3;
	if ((c[0] == 0xf0 && c[1] < 0x90) || (c[0] == 0xf4 && c[1] > 0x8f) ||
	    !is_continuation(c[3]))
		return 0;
	return 4;
}

void text_make_printable(char *text)
{
	while (*text) {
		size_t length = text_character(text);

		if (!length)
			*text = '?';
		text += length ? length : 1;
	}
}

void text_clean(char *to, const char *from)
{
	while (*from) {
		size_t length = text_character(from);

		if (length > 1) {
			memmove(to, from, length);
			to += length;
			from += length;
			continue;
		}
		*to++ = !length ? '?' : *from == ';' ? ':' : *from;
		from++;
	}
	*to = 0;
}

void text_word(char *to, size_t size, const char *from)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-+.:";
	size_t i;

	for (i = 0; i + 1 < size && from[i]; i++)
		to[i] = strchr(allowed, from[i]) ? from[i] : '_';
	to[i] = 0;
}

bool text_may_have_colours(void)
{
	const char *none = getenv("NO_COLOR");

	return !none || !*none;
}

size_t text_columns(FILE *out)
{
	struct winsize size;

	return ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || !size.ws_col ? SIZE_MAX
									 : size.ws_col;
}

void text_put(FILE *out, const char *text, size_t columns)
{
	static const char cut[] = "...";
	size_t count = 0, kept = 0, at = 0;

	if (columns < LEAST_COLUMNS)
		columns = LEAST_COLUMNS;
	while (text[at] && count < columns) {
		size_t length = text_character(text + at);

		at += length ? length : 1;
		if (++count == columns - strlen(cut))
			kept = at;
	}
	if (text[at])
		fprintf(out, "%.*s%s", (int)kept, text, cut);
	else
		fputs(text, out);
}

void text_time(char *to, uint64_t ns, bool utc)
{
	time_t seconds = (time_t)(ns / 1000000000);
	char time[TEXT_TIME_SIZE - 8], zone[8];
	struct tm tm;

	tzset(); /* localtime_r() need not call tzset() */
	if (!(utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)) ||
	    !strftime(time, sizeof(time), "%Y-%m-%dT%H:%M:%S", &tm) ||
	    strftime(zone, sizeof(zone), "%z", &tm) != 5)
		snprintf(to, TEXT_TIME_SIZE, "unknown");
	else if (utc)
		snprintf(to, TEXT_TIME_SIZE, "%sZ", time);
	else /* strftime() can't print +01:00 */
		snprintf(to, TEXT_TIME_SIZE, "%s%.3s:%.2s", time, zone, zone + 3);
}

void text_uuid(char *to, const uint8_t *uuid)
{
	static const char digits[] = "0123456789abcdef";

	for (unsigned int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		*to++ = digits[uuid[i] >> 4];
		*to++ = digits[uuid[i] & 15];
	}
	*to = 0;
}
