/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_CHECKS_QUALITY_H
#define UNIPROF_REPORT_MODEL_CHECKS_QUALITY_H

#include <stdbool.h>

#include "report/model/frames.h"
#include "report/model/measure.h"
#include "report/model/stacks.h"

/* How reliable a report is: what has names, and how chains ended. All counts are in the
 * unit of the measure. */
struct quality {
	const struct measure *measure;
	uint64_t samples, samples_unnamed; /* all samples, and samples whose sampled
					      address has no name */
	uint64_t samples_empty; /* samples without any address, which have no name either
				 */
	uint64_t frames, frames_unnamed; /* addresses of all samples, and addresses
					    without a name */
	uint64_t outside;     /* part of the unnamed samples: outside all symbol files */
	uint64_t in_files;    /* likewise: in files that processes had in their memory */
	uint64_t place, most; /* the place in a file with most of these, and how many */
	uint64_t low, high;   /* address range of the other unnamed samples */
	uint64_t ends[SAMPLES_ROOTS]; /* by enum chain_end: ends_count() */
	bool by_table;	/* callers were found by unwind tables, in some domain */
	bool on_kvm;	/* some domain's memory is looked for in its VMM */
	bool can_table; /* some domain has 64-bit code, for which there can be tables */
};

/* Counts how much of what was read has names. -1 if out of memory. */
int quality_measure(struct quality *quality, const struct measure *measure,
		    const struct stacks *stacks, struct frames *frames,
		    const struct sources *sources, const struct summary *summary);

/*
 * Set @line to a note on how much has no name, or was cut short, the most likely reason
 * and what to do. False if there is nothing to report; shares below 1 % are reported only
 * if @all.
 */
bool quality_note_names(const struct quality *quality, const struct sources *sources,
			bool all, struct error *line);
bool quality_note_chains(const struct quality *quality, bool all, struct error *line);

/* Sets @line to a note on chains of which it is not known whether they are whole, as
 * quality_note_chains() does. */
bool quality_note_ends(const struct quality *quality, bool all, struct error *line);

#endif
