/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PERF_HEAD_H
#define UNIPROF_REPORT_PERF_HEAD_H

#include <linux/perf_event.h>
#include <stdio.h>

#include "report/output.h"
#include "report/perf.h"

/*
 * All of a perf.data file but its records: what comes before and behind them. Write
 * errors are left in the FILE, which must be one that can seek.
 */

/* What the samples have. Readers with one event could do without its id. */
#define PERF_HEAD_SAMPLE_TYPE                                                   \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)
#define PERF_HEAD_EVENT_ID 1

/* Leaves the room for it; records follow. */
void perf_head_reserve(FILE *file);
/* All records are written: writes the rest. */
void perf_head_finish(FILE *file, const struct report *report,
		      const struct perf_maps *maps);

#endif
