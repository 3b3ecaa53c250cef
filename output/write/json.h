/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_JSON_H
#define UNIPROF_OUTPUT_WRITE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Writes one JSON text (RFC 8259), value by value, without keeping them. In an object
 * each value has a @key; in an array and at the top level @key is NULL. Strings can
 * contain any bytes; invalid UTF-8 becomes U+FFFD. The FILE keeps write errors.
 */
struct json;

/* NULL if out of memory. The caller closes @out. */
struct json *json_new(FILE *out);
/* Like json_new(), for any number of texts, each in a line of its own: JSON lines. */
struct json *json_new_lines(FILE *out);
/* Ends the text with a newline. All objects and arrays must have been ended, unless
 * writing failed. @json may be NULL. */
void json_free(struct json *json);

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/* Ends the object or array that was started last. */
void json_end(struct json *json);

void json_string(struct json *json, const char *key, const char *value);
void json_null(struct json *json, const char *key);
void json_bool(struct json *json, const char *key, bool value);
void json_number(struct json *json, const char *key, uint64_t value);
/* An array of numbers, in one line. */
void json_numbers(struct json *json, const char *key, const uint32_t *values,
		  size_t count);
/* @value / 10^@digits, with up to 19 @digits after the point. */
void json_decimal(struct json *json, const char *key, uint64_t value,
		  unsigned int digits);
/* With @digits after the point. Values that are not finite become null, as JSON can't
 * represent them. */
void json_real(struct json *json, const char *key, double value, int digits);

#endif
