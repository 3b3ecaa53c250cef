/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_WAYS_H
#define UNIPROF_REPORT_LOAD_WAYS_H

#include "report/load/summary.h"
#include "tables/program_table.h"

/* How the captured stacks of domains are unwound: by which tables of a report's files. */
struct ways;

/* Maximum number of files that are used */
#define WAYS_FILES 64

/* Maximum number of moves that are taken; more are ignored */
#define WAYS_MOVES 64

/* How stacks are unwound, for all domains and address spaces that have these properties
 * in common. It does not change. */
struct way {
	struct way *next; /* in the list of ways.c */
	enum cpu_kind kind;
	enum hypercall_page page;   /* the guest's page of hypercalls */
	uint64_t files;		    /* set of files, one bit each */
	uint64_t shift[WAYS_FILES]; /* by file: how much higher it is than it says */
	struct unwind_table *table; /* NULL: none */
	struct unwind_table *hypercalls;
};

/* @debug_directory: where debug files are. NULL if out of memory. */
struct ways *ways_new(const char *debug_directory);
void ways_free(struct ways *ways);

/* Adds a file, as described for replay_add(). */
int ways_add(struct ways *ways, const char *spec);

/* As described for replay_forget_moves() and replay_move(). */
void ways_forget_moves(struct ways *ways);
int ways_move(struct ways *ways, const char *path, uint32_t domain, uint64_t space,
	      uint64_t shift);

/* Whether it may depend on the address space where a file is. */
bool ways_have_spaces(const struct ways *ways);

/* Returns the way of an address space of a domain, which is NULL if unknown; valid until
 * ways_free(). The first call reads files. Several threads may call it. NULL if out of
 * memory. */
const struct way *ways_of(struct ways *ways, const struct recording_domain *domain,
			  uint64_t space);

#endif
