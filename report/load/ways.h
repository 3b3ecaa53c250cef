/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_WAYS_H
#define UNIPROF_REPORT_LOAD_WAYS_H

#include "report/load/summary.h"
#include "tables/program_table.h"

/* How the captured stacks of domains are unwound: by which tables of a report's files. */
struct ways;

/* How it is done for all domains that have this in common. It does not change. */
struct way {
	struct way *next; /* used by ways.c */
	enum cpu_kind kind;
	enum guest_type type;	     /* which decides about the hypercalls */
	uint64_t files;		     /* one bit for each of the first 64 */
	struct program_table *table; /* NULL: none */
	struct unwind_table *hypercalls;
};

/* @debug_directory: where debug files are. NULL if out of memory. */
struct ways *ways_new(const char *debug_directory);
void ways_free(struct ways *ways);

/* replay_add() */
int ways_add(struct ways *ways, const char *spec);

/* That of a domain, or of an unknown one, NULL; valid until ways_free(). The first time,
 * this reads files. Threads may call it at the same time. NULL if out of memory. */
const struct way *ways_of(struct ways *ways, const struct recording_domain *domain);

#endif
