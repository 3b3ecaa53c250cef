/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PLACES_MAPPED_H
#define UNIPROF_REPORT_MODEL_PLACES_MAPPED_H

#include "format/recording.h"
#include "report/load/mappings.h"
#include "symbols/symbols.h"

struct sources;

/*
 * Symbol files that nobody named: those of files that the processes of guests had in
 * their memory, found on this machine by their build-id, or below the directory of
 * --symfs. Each is looked for when an address in it is first met.
 */
struct mapped_symbols;

/* NULL if out of memory. */
struct mapped_symbols *mapped_symbols_new(void);
/* Returns the only file that was found with this name; NULL if there is none, or several.
 */
const struct symbols_file *mapped_symbols_file(const struct mapped_symbols *mapped,
					       const char *name);
/* Returns the number of the files that were looked for, and the path of the one with this
 * number, or NULL if it was not found; sets *@path to its path in the guest. */
size_t mapped_symbols_count(const struct mapped_symbols *mapped);
const char *mapped_symbols_get(const struct mapped_symbols *mapped, size_t number,
			       const char **path);
/* @mapped may be NULL. */
void mapped_symbols_free(struct mapped_symbols *mapped);

/*
 * Finds the symbol at a place in a mapped file (mappings_file()): in a file of the
 * sources with an equal build-id or, if one of the two is not known, an equal name; or
 * else in one that is found. False if there is no symbol.
 */
bool mapped_find(const struct sources *sources, const struct recording_domain *domain,
		 uint64_t place, struct symbol *symbol);

/* Likewise, the file alone: sets the symbol's dso, and start, which is where the file
 * begins. */
bool mapped_find_file(const struct sources *sources, uint64_t place,
		      struct symbol *symbol);

#endif
