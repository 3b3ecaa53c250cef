/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/scan.h"

#include <string.h>

#include "base/parse.h"

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool scan_number(struct recording_text text, unsigned int base, uint64_t *number)
{
	uint64_t value = 0;

	if (!text.length)
		return false;
	for (size_t i = 0; i < text.length; i++) {
		/* -1 for a character that is not a digit becomes larger than any base. */
		unsigned int digit = (unsigned int)parse_hex_digit(text.at[i]);

		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*number = value;
	return true;
}

bool scan_hex(struct recording_text text, uint64_t *number)
{
	return scan_number(text, 16, number);
}

bool scan_decimal(struct recording_text text, uint64_t *number)
{
	return scan_number(text, 10, number);
}

bool scan_rounded(struct recording_text text, uint64_t *number)
{
	const char *point = memchr(text.at, '.', text.length);
	struct recording_text whole = text;
	uint64_t value;

	if (point)
		whole.length = (size_t)(point - text.at);
	if (!scan_decimal(whole, &value))
		return false;
	for (size_t i = whole.length + 1; i < text.length; i++)
		if ((unsigned int)parse_hex_digit(text.at[i]) > 9)
			return false;
	if (text.length > whole.length + 1 && point[1] >= '5' && value < UINT64_MAX)
		value++;
	*number = value;
	return true;
}

bool scan_fixed(struct recording_text text, unsigned int places, uint64_t *number)
{
	const char *point = memchr(text.at, '.', text.length);
	struct recording_text whole = text, decimals = {0};
	uint64_t unit = 1, value, part = 0;

	if (point) {
		whole.length = (size_t)(point - text.at);
		decimals.at = point + 1;
		decimals.length = text.length - whole.length - 1;
	}
	if (decimals.length > places || !scan_decimal(whole, &value) ||
	    (decimals.length && !scan_decimal(decimals, &part)))
		return false;
	for (size_t i = 0; i < places; i++) {
		unit *= 10;
		if (i >= decimals.length)
			part *= 10;
	}
	if (value >= UINT64_MAX / unit)
		return false;
	*number = value * unit + part;
	return true;
}

bool scan_address(struct recording_text text, uint64_t *address)
{
	return scan_past(&text, "0x") && scan_hex(text, address);
}

bool scan_name_offset(struct recording_text text, struct recording_text *name,
		      uint64_t *offset)
{
	size_t i = text.length;
	struct recording_text number;

	while (i > 0 && text.at[i - 1] != '+')
		i--;
	if (i < 2)
		return false;
	number = (struct recording_text){text.at + i, text.length - i};
	if (!scan_address(number, offset))
		return false;
	*name = (struct recording_text){text.at, i - 1};
	return true;
}

struct recording_text scan_trim(struct recording_text text)
{
	while (text.length && is_blank(text.at[0])) {
		text.at++;
		text.length--;
	}
	while (text.length && is_blank(text.at[text.length - 1]))
		text.length--;
	return text;
}

struct recording_text scan_word(struct recording_text *rest)
{
	struct recording_text text = scan_trim(*rest), word = {text.at, 0};

	while (word.length < text.length && !is_blank(text.at[word.length]))
		word.length++;
	text.at += word.length;
	text.length -= word.length;
	*rest = scan_trim(text);
	return word;
}

bool scan_past(struct recording_text *text, const char *start)
{
	size_t length = strlen(start);

	if (text->length < length || memcmp(text->at, start, length) != 0)
		return false;
	text->at += length;
	text->length -= length;
	return true;
}

bool scan_is(struct recording_text text, const char *what)
{
	return text.length == strlen(what) && memcmp(text.at, what, text.length) == 0;
}
