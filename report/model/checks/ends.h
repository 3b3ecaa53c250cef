/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_CHECKS_ENDS_H
#define UNIPROF_REPORT_MODEL_CHECKS_ENDS_H

#include "report/model/frames.h"
#include "report/model/stacks.h"

/*
 * Counts the samples in @stacks by how their chains end: @ends by enum chain_end. Chains
 * whose last function has the name of a start (symbols/starts.h) are whole, whatever the
 * recorder knew. -1 if out of memory.
 */
int ends_count(uint64_t ends[SAMPLES_ROOTS], const struct stacks *stacks,
	       struct frames *frames);

/* Returns the number of samples whose chains are cut. */
uint64_t ends_cut(const uint64_t ends[SAMPLES_ROOTS]);

#endif
