/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_RECORDED_H
#define UNIPROF_REPORT_RECORDED_H

#include "format/name_list.h"
#include "symbols/symbols.h"

/* The names that a recording itself has for places in its domains' code. */
struct recorded;

/* NULL when memory is short. */
struct recorded *recorded_new(void);
void recorded_free(struct recorded *recorded);

/* Adds the names of a chunk, for domains whose indexes are higher by @base; a place that
 * has one keeps it. -1 when memory is short. */
int recorded_add(struct recorded *recorded, struct name_list_reader names, uint32_t base);

/* Whether there are any. */
bool recorded_any(const struct recorded *recorded);

/* Like symbols_find(), in the domain of that index. The DSO's name may be empty. The
 * strings are valid until recorded_free(). */
bool recorded_find(const struct recorded *recorded, uint32_t domain, uint64_t address,
		   struct symbol *symbol);

#endif
