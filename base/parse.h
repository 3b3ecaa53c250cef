/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_PARSE_H
#define UNIPROF_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/guest.h"

/* Parsers for command line arguments. Functions with a @text return 0, or -1 if it is
 * invalid or has trailing characters; the result is then unchanged. */

/* Parses a decimal number from @min to @max. */
int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/* Parses seconds with an optional fraction ("0.25"), or a time with a unit (ms, s, m, h,
 * d: "1.5h") into ns; more than 0, less than 100 years. */
int parse_time(const char *text, uint64_t *ns);

/* Parses a percentage from 0.01 to 100 with an optional fraction ("2.5"), as a part of
 * 1. */
int parse_percent(const char *text, double *part);

/* Returns the value of a hexadecimal digit; -1 for any other character. */
int parse_hex_digit(char c);

/* Parses a number with an optional fraction ("2.5") into billionths; further digits are
 * dropped. The integer part must be below @most, which is below 2^64 billionths. */
int parse_billionths(const char *text, uint64_t most, uint64_t *billionths);

/* Parses a list of numbers and ranges ("0,2-5"), all below @size. Sets the elements of
 * @set with these numbers to true and leaves the others unchanged. */
int parse_list(const char *text, bool *set, size_t size);

/*
 * Finds the event that perf's name @text stands for: one of the generic hardware events,
 * "rN" with a hexadecimal number (PERF_TYPE_RAW), cpu-clock or task-clock; with ":G",
 * only the guest's. -1 with the reason in @err if there is none.
 */
int parse_event(const char *text, struct event_kind *kind, struct error *err);

#endif
