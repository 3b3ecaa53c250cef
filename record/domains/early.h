/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_EARLY_H
#define UNIPROF_RECORD_DOMAINS_EARLY_H

#include "record/learning/learning.h"

/*
 * The first samples of a domain, which were taken before there was a table to unwind it
 * by. Their chains by frame pointers may be cut only for lack of the table, which says
 * nothing about the later ones. So they are counted, and such a chain ends with
 * CHAIN_EARLY.
 */

/* Time from the first sample on, after which no sample is early, ns: if there is no table
 * then, something else is missing. */
#define EARLY_NS (5 * NS_PER_S)

/* Starts zeroed. */
struct early {
	uint64_t samples; /* number of samples before the first table */
	bool has_table;	  /* there is a table: no later sample is early */
	uint64_t first;	  /* time of the first sample, ns, monotonic; 0: none */
	bool is_open;	  /* the next round's samples may be early */
};

/* Prepares for a round, with what is known before it. */
void early_begin(struct early *early, const struct learning *learning);

/* Counts and marks the samples of the round, with what is known after it. */
void early_end(struct early *early, const struct learning *learning,
	       const struct round *round);

#endif
