/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_QUALITY_H
#define UNIPROF_REPORT_QUALITY_H

#include <stdbool.h>

#include "report/frames.h"
#include "report/measure.h"
#include "report/stacks.h"

/* How far a report can be trusted: what has names, and how chains ended. All
 * counts are those of the measure. */
struct quality {
	const struct measure *measure;
	uint64_t samples, samples_unnamed; /* by the sampled instruction's address */
	uint64_t samples_empty;		   /* without any address; unnamed, too */
	uint64_t frames, frames_unnamed;   /* by all addresses of all samples */
	uint64_t outside;   /* of the unnamed samples: beyond what any file names */
	uint64_t low, high; /* the unnamed samples' addresses */
	uint64_t ends[SAMPLES_ROOTS]; /* by enum chain_end */
};

/* -1 when memory is short. */
int quality_measure(struct quality *quality, const struct measure *measure,
		    const struct stacks *stacks, struct frames *frames,
		    const struct sources *sources, const struct summary *summary);

/*
 * Each says in one line what a user should know: how much has no name, or was cut
 * short, the likeliest reason and what to do. False when there's nothing to say;
 * shares below 1 % are nothing unless @all.
 */
bool quality_note_names(const struct quality *quality, const struct sources *sources,
			bool all, struct error *line);
bool quality_note_chains(const struct quality *quality, bool all, struct error *line);

#endif
