/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_OUTPUT_H
#define UNIPROF_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/filter.h"
#include "report/frames.h"
#include "report/measure.h"
#include "report/quality.h"
#include "report/stacks.h"
#include "report/summary.h"

/* How outputs that can are to show what counts. */
struct report_view {
	bool per_vcpu;
	bool no_children; /* only what functions have of their own */
	bool invert;	  /* the sampled functions first, their callers behind them */
	bool has_limit;	  /* percent_limit was given */
	double percent_limit;
};

/* What every output is given. All of it is complete at the output's end(); the
 * summary and the stacks hold what was read so far before. */
struct report {
	const struct summary *summary;
	const struct stacks *stacks;
	struct frames *frames;
	const struct sources *sources; /* what names the frames */
	const struct measure *measure;
	const struct quality *quality; /* at end() only, as the next three are */
	uint64_t duration;	       /* of what is in the report, ns */
	size_t domain_count;	       /* with different names, in the report */
	const char *domain;	       /* one of them, clean; NULL for none */
	struct filter *filter;
	struct report_view view;
	FILE *out; /* write errors are left in it */
};

/* One sample that counts, its call chain being a node of the report's stacks. */
struct output_sample {
	uint64_t time; /* ns, CLOCK_MONOTONIC of the recording host */
	uint32_t domain;
	uint32_t vcpu;
	uint32_t stack;
	unsigned int state; /* enum vcpu_state, or a later version's */
	uint64_t count;	    /* samples or us (report/measure.h); not 0 */
};

/*
 * One format that reports can be written in. A new one is a file and a line in
 * output.c's table.
 */
struct output {
	const char *name;
	const char *about; /* for --help: one line */
	bool has_columns;  /* knows per_vcpu and no_children, */
	bool has_limit;	   /* percent_limit, */
	bool can_invert;   /* invert */

	/* Makes the state that the others get; NULL when memory is short. */
	void *(*begin)(const struct report *report);
	/* Takes each sample, in the file's order. NULL: the report's stacks do. */
	int (*sample)(void *state, const struct output_sample *sample);
	/* All samples were given. Like sample(), -1 when memory is short. */
	int (*end)(void *state);
	void (*free)(void *state);
};

extern const struct output output_folded;
extern const struct output output_perf_script;
extern const struct output output_perf_data;
extern const struct output output_flamegraph;
extern const struct output output_timeline;
extern const struct output output_pprof;
extern const struct output output_speedscope;
extern const struct output output_callgrind;
extern const struct output output_histogram;
extern const struct output output_histogram_csv;
extern const struct output output_histogram_json;
extern const struct output output_tree;

/* The output called @name; NULL when there is none. */
const struct output *output_find(const char *name);
/* All of them, in the order to show them in; ends with NULL. */
const struct output *const *output_list(void);

#endif
