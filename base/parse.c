/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/parse.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parses the digits at *@text and advances *@text past them. */
static int take_digits(const char **text, uint64_t *number)
{
	char *end;

	if (!isdigit((unsigned char)**text))
		return -1;
	errno = 0;
	*number = strtoull(*text, &end, 10);
	*text = end;
	return errno ? -1 : 0;
}

int parse_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20; /* to lower case */
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number)
{
	uint64_t value;

	if (take_digits(&text, &value) < 0 || *text || value < min || value > max)
		return -1;
	*number = value;
	return 0;
}

int parse_billionths(const char *text, uint64_t most, uint64_t *billionths)
{
	uint64_t whole = 0, fraction = 0;

	if (*text != '.' && take_digits(&text, &whole) < 0)
		return -1;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return -1;
		for (uint64_t unit = 100000000; isdigit((unsigned char)*text); text++) {
			fraction += unit * (uint64_t)(*text - '0');
			unit /= 10;
		}
	}
	if (*text || whole >= most)
		return -1;
	*billionths = whole * 1000000000 + fraction;
	return 0;
}

int parse_time(const char *text, uint64_t *ns)
{
	static const struct unit {
		const char *name;
		uint64_t seconds; /* 0: a thousandth of one */
	} units[] = {{"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}, {"ms", 0}, {"", 1}};
	const uint64_t most = 100ull * 365 * 86400;
	size_t digits = strspn(text, "0123456789.");
	const struct unit *unit = units;
	uint64_t value;
	char copy[32];

	while (unit->name[0] && strcmp(text + digits, unit->name) != 0)
		unit++;
	if (digits >= sizeof(copy) || strcmp(text + digits, unit->name) != 0)
		return -1;
	memcpy(copy, text, digits);
	copy[digits] = '\0';
	if (parse_billionths(copy, unit->seconds ? most / unit->seconds : most, &value) <
	    0)
		return -1;
	value = unit->seconds ? value * unit->seconds : value / 1000;
	if (!value)
		return -1;
	*ns = value;
	return 0;
}

int parse_percent(const char *text, double *part)
{
	uint64_t value;

	if (parse_billionths(text, 101, &value) < 0 || value < 10000000 ||
	    value > 100000000000)
		return -1;
	*part = (double)value / 1e11;
	return 0;
}

int parse_list(const char *text, bool *set, size_t size)
{
	/* The first pass only validates, so that @set is unchanged on error. */
	for (int pass = 0; pass < 2; pass++) {
		for (const char *at = text;; at++) {
			uint64_t first, last;

			if (take_digits(&at, &first) < 0)
				return -1;
			last = first;
			if (*at == '-') {
				at++;
				if (take_digits(&at, &last) < 0)
					return -1;
			}
			if (last < first || last >= size || (*at && *at != ','))
				return -1;
			for (uint64_t i = first; pass == 1 && i <= last; i++)
				set[i] = true;
			if (!*at)
				break;
		}
	}
	return 0;
}
