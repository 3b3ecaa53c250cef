/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_PARSE_H
#define UNIPROF_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What users write on command lines. All are 0, or -1 when @text is not wholly
 * what it should be; results are then unchanged. */

/* A decimal number from @min to @max. */
int parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *number);

/* Seconds with a fraction, as "0.25", to ns; more than 0, less than 100 years. */
int parse_seconds(const char *text, uint64_t *ns);

/* Per cent with a fraction, as "2.5", to a part of 1; 0.01 to 100. */
int parse_percent(const char *text, double *part);

/* A number with or without a fraction, as "2.5", in billionths, what is below one being
 * dropped; the whole part below @most, which is below 2^64 billionths. */
int parse_billionths(const char *text, uint64_t most, uint64_t *billionths);

/* Numbers and ranges, as "0,2-5", all below @size: sets their places in @set to
 * true and leaves the others. */
int parse_list(const char *text, bool *set, size_t size);

#endif
