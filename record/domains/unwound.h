/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_UNWOUND_H
#define UNIPROF_RECORD_DOMAINS_UNWOUND_H

#include "record/domains/early.h"
#include "record/domains/target.h"

/* Maximum number of files that are named; further files only count as domains */
#define UNWOUND_FILES 64

/* Counts of domains by the way they were unwound. Starts zeroed. */
struct unwound {
	unsigned int domains;
	unsigned int by_table;	/* domains unwound by a table of programs */
	unsigned int by_code;	/* domains unwound by code in their memory, too */
	unsigned int by_frames; /* domains unwound by neither */
	unsigned int captured;	/* domains whose stacks were captured */
	uint64_t rows;		/* rows that tables have of the named files */
	uint64_t code_rows;	/* rows of the tables of code in memory */
	uint64_t early;		/* samples of these domains before their first table */
	char names[256];	/* files that tables are made from, and that guests run */
	const void *seen[UNWOUND_FILES]; /* the named files */
	unsigned int files;		 /* number of named files */
};

/* Counts a domain that was sampled, and its samples from before it had a table. */
void unwound_add(struct unwound *unwound, const struct target *target,
		 const struct early *early);

#endif
