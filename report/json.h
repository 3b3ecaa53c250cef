/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_JSON_H
#define UNIPROF_REPORT_JSON_H

#include <stdint.h>
#include <stdio.h>

/*
 * Writes one JSON text (RFC 8259), value by value, keeping nothing. In an object
 * each value has a @key; in an array and at the top @key is NULL. Strings may
 * hold any bytes; what is not valid UTF-8 becomes U+FFFD. Write errors are left
 * in the FILE.
 */
struct json;

/* NULL when memory is short. @out stays the caller's. */
struct json *json_new(FILE *out);
/* Ends the text with a newline. All objects and arrays must have been ended. */
void json_free(struct json *json);

void json_object(struct json *json, const char *key);
void json_array(struct json *json, const char *key);
/* Ends the object or array that was begun last. */
void json_end(struct json *json);

void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, uint64_t value);
/* With @digits after the point. Not finite becomes null, as JSON has no word for it. */
void json_real(struct json *json, const char *key, double value, int digits);

#endif
