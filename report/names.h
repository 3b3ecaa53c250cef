/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_NAMES_H
#define UNIPROF_REPORT_NAMES_H

#include <stdint.h>

/*
 * Strings that are each kept once and known by a number, counted from 0. They
 * are cleaned on the way in (text_clean()).
 */
struct names;

#define NAMES_NONE UINT32_MAX

/* NULL when memory is short. */
struct names *names_new(void);
void names_free(struct names *names);

/* The number of @name; NAMES_NONE when memory is short. */
uint32_t names_intern(struct names *names, const char *name);

uint32_t names_count(const struct names *names);
/* Valid until names_free(). */
const char *names_get(const struct names *names, uint32_t number);

#endif
