/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PLACES_PLACES_H
#define UNIPROF_REPORT_MODEL_PLACES_PLACES_H

#include "format/recording.h"
#include "symbols/elf/vote.h"
#include "symbols/symbols.h"

/* Where an address space of a domain has the code of a symbol file. */
struct place {
	uint32_t domain;	       /* index of the domain */
	uint64_t space;		       /* address space; 0: not known */
	const struct symbols *symbols; /* table of the file */
	struct symbols_place at;
	bool is_moved;	    /* the file is not where it was expected */
	struct votes votes; /* votes for the place; none inside: the recorder found it */
};

/* The known places of symbol files, in all domains. Starts as zeros. */
struct places {
	struct place *list;
	size_t count;
	bool has_moved;	 /* a file is moved in one of them */
	bool has_rivals; /* two files are at one address, in different address spaces */
};

/* Maximum number of places of the files of one table in a domain; more are ignored. */
#define PLACES_MAX 64

void places_free(struct places *places);

/* Adds a place. -1 if out of memory. */
int places_add(struct places *places, const struct place *place);

/*
 * Copies the places of the table's files in the domain, or in the process that @domain
 * stands for, to @list, and returns their number; *@own of them, the first ones, are of
 * the process itself. A file that was not found in the
 * process itself is where other processes of the domain have it. NULL is an unknown
 * domain, which has no places.
 */
size_t places_of(const struct places *places, const struct symbols *symbols,
		 const struct recording_domain *domain,
		 struct symbols_place list[PLACES_MAX], size_t *own);

/* Returns the first place of the file that is equal in the domain of @place. */
const struct place *places_find(const struct places *places, const struct place *place);

/* Returns the distance by which all domains, or all processes of one domain, have moved
 * the file; 0 if they differ. */
uint64_t places_common(const struct places *places, const struct symbols *symbols,
		       uint32_t file);
uint64_t places_common_in(const struct places *places, const struct symbols *symbols,
			  uint32_t file, uint32_t domain);

#endif
