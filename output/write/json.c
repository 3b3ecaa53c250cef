/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/text.h"

#define MAX_DEPTH   16
#define NUMBER_SIZE 20 /* digits of the largest number */
/* Values nested deeper than this share a line, so that rows of tables are lines. */
#define LINE_DEPTH 2

struct json {
	FILE *out;
	unsigned int line_depth; /* LINE_DEPTH, or 0: each text is one line */
	unsigned int depth;
	char close[MAX_DEPTH]; /* closing bracket of each open object and array */
	bool any[MAX_DEPTH];   /* whether each open object and array has a value */
};

struct json *json_new(FILE *out)
{
	struct json *json = calloc(1, sizeof(*json));

	if (json) {
		json->out = out;
		json->line_depth = LINE_DEPTH;
	}
	return json;
}

struct json *json_new_lines(FILE *out)
{
	struct json *json = json_new(out);

	if (json)
		json->line_depth = 0;
	return json;
}

void json_free(struct json *json)
{
	if (!json)
		return;
	if (json->line_depth)
		putc_unlocked('\n', json->out);
	free(json);
}

static void put_line_break(struct json *json)
{
	putc_unlocked('\n', json->out);
	for (unsigned int i = 0; i < json->depth; i++)
		putc_unlocked('\t', json->out);
}

/* The length of the start of @text that can be written as it is. */
static size_t plain_length(const char *text)
{
	size_t length = 0;

	while (text[length] >= ' ' && text[length] <= '~' && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	return length;
}

/* Writes a character that is not plain; returns its length. */
static size_t put_character(FILE *out, const char *text)
{
	size_t length = text_character(text);

	if (*text == '"' || *text == '\\')
		fprintf(out, "\\%c", *text);
	else if (length)
		fwrite_unlocked(text, 1, length, out);
	else if ((unsigned char)*text < 0x80)
		fprintf(out, "\\u%04x", *text);
	else
		fputs_unlocked("\\ufffd", out);
	return length ? length : 1;
}

static void put_string(FILE *out, const char *text)
{
	putc_unlocked('"', out);
	for (;;) {
		size_t length = plain_length(text);

		fwrite_unlocked(text, 1, length, out);
		text += length;
		if (!*text)
			break;
		text += put_character(out, text);
	}
	putc_unlocked('"', out);
}

/* Writes the separator, indentation and key before a value. */
static void begin_value(struct json *json, const char *key)
{
	if (json->depth) {
		bool *any = &json->any[json->depth - 1];

		if (*any)
			putc_unlocked(',', json->out);
		if (json->depth <= json->line_depth)
			put_line_break(json);
		else if (*any)
			putc_unlocked(' ', json->out);
		*any = true;
	}
	if (key) {
		put_string(json->out, key);
		fputs_unlocked(": ", json->out);
	}
}

static void begin_group(struct json *json, const char *key, char open, char close)
{
	begin_value(json, key);
	assert(json->depth < MAX_DEPTH);
	putc_unlocked(open, json->out);
	json->close[json->depth] = close;
	json->any[json->depth++] = false;
}

void json_object(struct json *json, const char *key)
{
	begin_group(json, key, '{', '}');
}

void json_array(struct json *json, const char *key)
{
	begin_group(json, key, '[', ']');
}

void json_end(struct json *json)
{
	bool any;

	assert(json->depth);
	any = json->any[--json->depth];
	if (any && json->depth < json->line_depth)
		put_line_break(json);
	putc_unlocked(json->close[json->depth], json->out);
	if (!json->depth && !json->line_depth)
		putc_unlocked('\n', json->out);
}

void json_string(struct json *json, const char *key, const char *value)
{
	begin_value(json, key);
	put_string(json->out, value);
}

void json_null(struct json *json, const char *key)
{
	begin_value(json, key);
	fputs_unlocked("null", json->out);
}

void json_bool(struct json *json, const char *key, bool value)
{
	begin_value(json, key);
	fputs_unlocked(value ? "true" : "false", json->out);
}

/* Writes @value in decimal before @end; returns its start. fprintf() would take most of
 * the time for files that are lists of numbers. */
static char *write_number(char *end, uint64_t value)
{
	do {
		*--end = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	return end;
}

void json_number(struct json *json, const char *key, uint64_t value)
{
	char digits[NUMBER_SIZE], *end = digits + sizeof(digits);
	char *at = write_number(end, value);

	begin_value(json, key);
	fwrite_unlocked(at, 1, (size_t)(end - at), json->out);
}

void json_decimal(struct json *json, const char *key, uint64_t value, unsigned int digits)
{
	char text[NUMBER_SIZE + 2], *end = text + sizeof(text), *at = end;

	assert(digits < NUMBER_SIZE);
	for (unsigned int i = 0; i < digits; i++, value /= 10)
		*--at = (char)('0' + value % 10);
	if (digits)
		*--at = '.';
	at = write_number(at, value);
	begin_value(json, key);
	fwrite_unlocked(at, 1, (size_t)(end - at), json->out);
}

void json_numbers(struct json *json, const char *key, const uint32_t *values,
		  size_t count)
{
	char text[64 * (NUMBER_SIZE + 2)], *end = text + sizeof(text), *at = end;

	begin_value(json, key);
	putc_unlocked('[', json->out);
	/* Pieces of 64 numbers are written from their ends. */
	for (size_t from = 0; from < count; from += 64) {
		at = end;
		for (size_t i = count - from < 64 ? count : from + 64; i-- > from;) {
			at = write_number(at, values[i]);
			if (i > 0) {
				*--at = ' ';
				*--at = ',';
			}
		}
		fwrite_unlocked(at, 1, (size_t)(end - at), json->out);
	}
	putc_unlocked(']', json->out);
}

void json_real(struct json *json, const char *key, double value, int digits)
{
	begin_value(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.*f", digits, value);
	else
		fputs_unlocked("null", json->out);
}
