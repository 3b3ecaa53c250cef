/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PROCESSES_H
#define UNIPROF_REPORT_MODEL_PROCESSES_H

#include <stdbool.h>

#include "base/tree.h"
#include "format/samples.h"
#include "report/load/summary.h"

/*
 * Tells the processes of a domain apart, by their address spaces, pids and names: to the
 * rest of a report, each is a domain of its own; if wanted, each of their threads. Starts
 * as zeros.
 */
struct processes {
	struct tree index; /* one root, domains, and the parts of processes */
	uint32_t *domain;  /* by node of the index: domain index + 1; 0: not known yet */
	uint32_t room;
	bool is_full; /* some are not told apart: there are too many */
	bool threads; /* threads of a process are told apart, too */
	/* By index of the process - SUMMARY_FIRST_PROCESS: the weight of its samples, for
	 * processes_count(). */
	uint64_t weight[SUMMARY_PROCESSES];
};

void processes_free(struct processes *processes);

/* Replaces the domains of the samples by domains that stand for their processes, which
 * are added to @summary. A sample keeps its domain if that or its process is not known.
 * -1 if out of memory. */
int processes_split(struct processes *processes, struct summary *summary,
		    struct samples_batch *batch);

/* Counts the weights of the processes' samples, and leaves the samples unchanged. */
int processes_count(struct processes *processes, struct summary *summary,
		    const struct samples_batch *batch);

#endif
