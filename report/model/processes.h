/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PROCESSES_H
#define UNIPROF_REPORT_MODEL_PROCESSES_H

#include <stdbool.h>

#include "base/tree.h"
#include "format/samples.h"
#include "report/load/summary.h"

/*
 * Tells the processes of a domain apart, by their address spaces: to the rest of a
 * report, each is a domain of its own. Starts as zeros.
 */
struct processes {
	struct tree index; /* one root, domains, address spaces */
	uint32_t *domain;  /* by node of the index, + 1; 0: not known yet */
	uint32_t room;
	bool is_full; /* some are not told apart: there are too many */
};

void processes_free(struct processes *processes);

/* Replaces the domains of the samples by those that stand for their processes, which are
 * added to @summary. A sample keeps its own if that or its address space is not known. -1
 * if out of memory. */
int processes_split(struct processes *processes, struct summary *summary,
		    struct samples_batch *batch);

#endif
