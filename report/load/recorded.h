/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_RECORDED_H
#define UNIPROF_REPORT_LOAD_RECORDED_H

#include "format/name_list.h"
#include "report/load/mappings.h"
#include "symbols/symbols.h"

/* Names of addresses that are stored in the recordings themselves, and the programs that
 * the names are from. */
struct recorded;

/* A program, as far as the recording describes it. */
struct recorded_program {
	const char *domain;	       /* the name or id of its domain; NULL: all */
	const char *name;	       /* file name: the DSO of its symbols */
	const char *build_id;	       /* in hexadecimal; empty: none */
	struct symbols_file file;      /* without functions */
	uint32_t base;		       /* base of its recording's domain indexes */
	struct recording_program copy; /* owns the texts */
};

/* @demangle: how names from symbol files are shown. NULL if out of memory. */
struct recorded *recorded_new(enum demangle_style demangle);
void recorded_free(struct recorded *recorded);

/* Begins another recording, whose domain indexes have @base added; @base ascends. -1 if
 * out of memory. */
int recorded_begin(struct recorded *recorded, uint32_t base);

/* Adds the names of a chunk; an address that has a name keeps it. Files of names are
 * among the @mappings, or added to them. -1 if out of memory. */
int recorded_add(struct recorded *recorded, struct mappings *mappings,
		 struct name_list_reader names);
int recorded_add_program(struct recorded *recorded,
			 const struct recording_program *program);

/* Whether some names are of one domain only. */
bool recorded_by_domain(const struct recorded *recorded);

/* Returns a number that two domains share only if all addresses have equal names in both.
 * It may change when names are added. */
uint32_t recorded_scope(const struct recorded *recorded, uint32_t domain);

/* Like symbols_find(), for the domain with index @domain. The DSO's name can be empty. If
 * only the DSO is known, the name is NULL; a name that is not from a symbol file has no
 * mangled form. The strings are valid until recorded_free(), the lines until the next
 * call. */
bool recorded_find(const struct recorded *recorded, uint32_t domain, uint64_t address,
		   struct symbol *symbol);

/* Sets *@list to the programs, in the order in which they were added, and returns their
 * number. A program is valid until recorded_free(), the list until a program is added. */
size_t recorded_programs(const struct recorded *recorded,
			 struct recorded_program *const **list);

/* Whether the program and the domain with index @domain are of one recording. */
bool recorded_is_with(const struct recorded *recorded,
		      const struct recorded_program *program, uint32_t domain);

#endif
