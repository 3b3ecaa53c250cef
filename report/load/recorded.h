/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_RECORDED_H
#define UNIPROF_REPORT_LOAD_RECORDED_H

#include "format/name_list.h"
#include "symbols/symbols.h"

/* Names of addresses that are stored in the recording itself. */
struct recorded;

/* NULL if out of memory. */
struct recorded *recorded_new(void);
void recorded_free(struct recorded *recorded);

/* Adds the names of a chunk, with @base added to the domain indexes; an address that has
 * a name keeps it. -1 if out of memory. */
int recorded_add(struct recorded *recorded, struct name_list_reader names, uint32_t base);

/* Whether there are any names. */
bool recorded_any(const struct recorded *recorded);

/* Like symbols_find(), for the domain of that index. The DSO's name can be empty. If only
 * the DSO is known, the name is NULL. The strings are valid until recorded_free(). */
bool recorded_find(const struct recorded *recorded, uint32_t domain, uint64_t address,
		   struct symbol *symbol);

#endif
