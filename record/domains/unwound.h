/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_UNWOUND_H
#define UNIPROF_RECORD_DOMAINS_UNWOUND_H

#include "record/domains/early.h"
#include "record/domains/target.h"

/* Maximum number of tables that are named; further tables only count as domains */
#define UNWOUND_TABLES 16

/* Counts of domains by the way they were unwound. Starts zeroed. */
struct unwound {
	unsigned int domains;
	unsigned int by_table;	/* domains unwound by a table of programs */
	unsigned int by_code;	/* domains unwound by code in their memory, too */
	unsigned int by_frames; /* domains unwound by neither */
	unsigned int captured;	/* domains whose stacks were captured */
	uint64_t rows;		/* rows of the named tables */
	uint64_t code_rows;	/* rows of the tables of code in memory */
	uint64_t early;		/* samples of these domains before their first table */
	char names[256];	/* files that the named tables are made from */
	const void *seen[UNWOUND_TABLES]; /* the named tables */
	unsigned int tables;		  /* number of named tables */
};

/* Counts a domain that was sampled, and its samples from before it had a table. */
void unwound_add(struct unwound *unwound, const struct target *target,
		 const struct early *early);

#endif
