/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_NAMES_H
#define UNIPROF_BASE_NAMES_H

#include <stdint.h>

/*
 * Interned strings: each is stored once and has a number, counted from 0. Strings are
 * cleaned (text_clean()) before they are stored. No choice of strings can make lookups
 * slow.
 */
struct names;

#define NAMES_NONE UINT32_MAX

/* Returns an empty table; NULL if out of memory. */
struct names *names_new(void);
void names_free(struct names *names);

/* Returns the number of @name, stored if it is new; NAMES_NONE if out of memory. */
uint32_t names_intern(struct names *names, const char *name);

uint32_t names_count(const struct names *names);
/* Returns the string with this number, valid until names_free(). */
const char *names_get(const struct names *names, uint32_t number);

#endif
