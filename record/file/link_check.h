/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_LINK_CHECK_H
#define UNIPROF_RECORD_FILE_LINK_CHECK_H

#include "format/recording.h"
#include "tables/program_table.h"

/*
 * Compares the links of recorded chains with the code of the guest's programs, for the
 * writer's thread: a chain must not contain callers that can't have called.
 */
struct link_check;

/* Creates an empty cache of comparisons; NULL if out of memory. */
struct link_check *link_check_new(void);
void link_check_free(struct link_check *check);

/* Allows LINK_CHECKS more comparisons of links that were not compared recently. The limit
 * bounds the cost of a hostile guest; links beyond it remain unknown. */
#define LINK_CHECKS 2000
void link_check_renew(struct link_check *check);

/* Ends the chain before its first impossible link, and adds the links up to there to
 * @counts, weighted as the sample. */
void link_check_sample(struct link_check *check, const struct placed_table *placed,
		       struct sample *sample, uint64_t counts[LINK_KINDS]);

#endif
