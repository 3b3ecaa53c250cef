/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_PROFILE_READ_H
#define UNIPROF_REPORT_MODEL_PROFILE_READ_H

#include <stdio.h>

#include "report/model/profile.h"

/* One sample that counts. */
struct counted_sample {
	uint64_t time; /* ns, CLOCK_MONOTONIC of the recording host */
	uint32_t domain;
	uint32_t vcpu;
	uint32_t stack;	    /* its call chain: a node of the profile's stacks */
	uint32_t recording; /* index of its recording */
	unsigned int state; /* enum vcpu_state, or a later version's */
	uint64_t count;	    /* samples or us (report/model/measure.h) */
	uint64_t rounds;    /* rounds it stands for, whatever is counted */
	uint64_t exit; /* why the vCPU was not in the guest's code: exit_make(), or 0 */
	struct measure_times times; /* all 0 without keeps_times of the profile's rules */
};

/* Shows how far the reading of a recording has come. */
struct profile_progress {
	void (*start)(void *arg, uint64_t whole); /* bytes; 0: unknown */
	void (*update)(void *arg, uint64_t done); /* bytes so far */
	void (*end)(void *arg);
	void *arg;
};

/* Callbacks for the reading of a profile. All members can be zero. */
struct profile_listener {
	/* Called for each sample that counts, in order. -1 if out of memory. */
	int (*sample)(void *arg, const struct counted_sample *sample);
	/* Also called for samples that count 0 because of their state or their functions;
	 * these have no call chain. */
	bool sees_all;
	/* Called for each wait that counts, with MEASURE_WAIT. -1 if out of memory. */
	int (*wait)(void *arg, const struct counted_wait *wait);
	void *arg;
	FILE *out; /* where samples are written to: a write error ends the reading */
	const struct profile_progress *progress;
};

/* Reads and counts all recordings of the opened profile, one after the other. -1 with
 * @err set, which is empty if @listener->out has a write error. */
int profile_read(struct profile *profile, const struct profile_listener *listener,
		 struct error *err);

#endif
