/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_REPORT_H
#define UNIPROF_REPORT_MODEL_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/load/summary.h"
#include "report/model/filter.h"
#include "report/model/frames.h"
#include "report/model/measure.h"
#include "report/model/checks/quality.h"
#include "report/model/stacks.h"

/* By what the rows of a histogram are sorted first. */
enum report_sort {
	REPORT_SORT_SELF,
	REPORT_SORT_TOTAL,
	REPORT_SORT_NAME,
};

/* Presentation options, for the outputs that support them. */
struct report_view {
	bool per_vcpu;
	bool no_children; /* self only */
	bool invert;	  /* the sampled functions first, then their callers */
	bool has_limit;	  /* percent_limit was given */
	double percent_limit;
	enum report_sort sort; /* of histograms */
	size_t columns;	       /* width; 0: that of the terminal, or unlimited */
};

/* What every output gets. It is complete at the output's end(); before that, the summary
 * and the stacks contain what was read so far. */
struct report {
	const struct summary *summary;
	const struct stacks *stacks;
	struct frames *frames;
	const struct sources *sources; /* the symbol files */
	const struct measure *measure;
	const struct quality *quality; /* set at end() only, like the next three */
	uint64_t duration;	       /* of the samples in the report, ns */
	size_t domain_count;	       /* in the report, by distinct name */
	bool per_process;	       /* some of them are processes of a domain */
	const char *domain; /* the name of one of them, clean; NULL if there is none */
	struct filter *filter;
	struct report_view view;
	FILE *out;	   /* keeps write errors */
	struct error *why; /* outputs set it if they fail and memory is not the reason */
	const uint64_t *recorded; /* bytes of recordings read so far */
};

/* One sample that counts. Its call chain is a node of the report's stacks. Outputs with
 * sees_all also get samples that count 0 because of their state or their functions; these
 * have no chain. */
struct output_sample {
	uint64_t time; /* ns, CLOCK_MONOTONIC of the recording host */
	uint32_t domain;
	uint32_t vcpu;
	uint32_t stack;
	unsigned int state; /* enum vcpu_state, or a later version's */
	uint64_t count;	    /* samples or us (report/model/measure.h) */
	uint64_t rounds;    /* rounds it stands for, whatever is counted */
};

#endif
