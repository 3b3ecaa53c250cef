/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_LANES_H
#define UNIPROF_OUTPUT_LANES_H

#include "report/model/profile_read.h"
#include "output/report.h"

/*
 * The samples of each vCPU or, if they are told apart, of each thread of a guest, in the
 * order of time, for outputs that write one after the other. They are kept in a temporary
 * file, unless there are few.
 */
struct lanes;

/* What a run is. */
enum lanes_kind {
	LANES_OF_CHAINS,  /* consecutive samples of a vCPU with the same call chain */
	LANES_OF_SAMPLES, /* a sample */
};

struct lane_run {
	uint64_t time;	/* time of the first sample, ns */
	uint64_t count; /* sum of the samples, as in struct counted_sample */
	uint32_t stack; /* as passed to lanes_add(), which does not look at it */
};

/* The vCPU of a thread's lane */
#define LANE_OF_THREAD UINT32_MAX

struct lane {
	uint32_t domain, vcpu;
	const char *name; /* the domain's name */
};

/* NULL if out of memory. */
struct lanes *lanes_new(const struct report *report, enum lanes_kind kind);
void lanes_free(struct lanes *lanes);

/* Adds a sample. -1 if out of memory, or with @report->why set. */
int lanes_add(struct lanes *lanes, const struct counted_sample *sample);

/* Sorts the lanes by domain name and vCPU, then by domain index: a rebooted guest has a
 * higher one. After the last sample; -1 as for lanes_add(). */
int lanes_finish(struct lanes *lanes);

uint32_t lanes_count(const struct lanes *lanes);
const struct lane *lanes_get(const struct lanes *lanes, uint32_t number);

/* Returns the number of runs of a lane. */
size_t lanes_runs(const struct lanes *lanes, uint32_t number);

/* Passes the runs of a lane to @visit, up to the first that returns -1. -1 also as for
 * lanes_add(). */
int lanes_visit(struct lanes *lanes, uint32_t number,
		int (*visit)(void *arg, const struct lane_run *run), void *arg);

#endif
