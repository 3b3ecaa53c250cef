/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_REPORT_H
#define UNIPROF_OUTPUT_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "report/model/frames.h"
#include "report/model/profile.h"
#include "report/model/stacks.h"

/* The first sort key of a histogram's rows. */
enum report_sort {
	REPORT_SORT_SELF,
	REPORT_SORT_TOTAL,
	REPORT_SORT_NAME,
};

/* What each row of a histogram stands for. */
enum report_rows {
	REPORT_ROWS_FUNCTIONS,
	REPORT_ROWS_FILES, /* the files that functions are in */
	REPORT_ROWS_DOMAINS,
};

/* Presentation options, for the outputs that support them. */
struct report_view {
	bool per_vcpu;
	bool no_children;   /* self only */
	bool invert;	    /* the sampled functions first, then their callers */
	bool shows_domains; /* even if there is only one */
	/* Processes, or their threads, are told apart for the rows. */
	bool by_process, by_thread;
	bool has_limit; /* percent_limit was given */
	double percent_limit;
	bool is_sorted;	       /* the next three were given */
	enum report_sort sort; /* sort key of histograms */
	enum report_rows rows; /* of histograms */
	bool shows_files;      /* a column with the files of functions, in histograms */
	bool only_exits; /* of functions, frames_function_is_exit() only, in histograms */
	bool lists_unnamed;	    /* addresses without a name have rows of their own */
	uint64_t most_rows;	    /* of histograms; 0: all */
	enum measure_weight weight; /* first shown, by outputs that get all weights */
	const char *title; /* of pictures and pages; NULL: made of the guest's name */
	size_t columns;	   /* width; 0: that of the terminal, or unlimited */
};

/*
 * A report: the parts of a profile that outputs use, and how to show them. While the
 * profile is read, the summary and the stacks cover the part read so far; coverage,
 * quality and notes are set at the outputs' end().
 */
struct report {
	const struct summary *summary;
	const struct stacks *stacks;
	struct frames *frames;
	const struct sources *sources; /* the symbol files */
	const struct measure *measure;
	const struct coverage *coverage;
	const struct quality *quality;
	struct filter *filter;
	const struct recording *recordings;
	size_t recording_count;
	const struct notes *notes;
	const uint64_t *recorded; /* bytes of recordings read so far */
	struct report_view view;
	FILE *out;	   /* keeps write errors */
	struct error *why; /* outputs set it if they fail and memory is not the reason */
};

/* The report of an opened profile to @out. */
struct report report_of(const struct profile *profile, const struct report_view *view,
			FILE *out, struct error *why);

/* Whether domains are told apart: there are several, or the view asks for it. */
bool report_shows_domains(const struct report *report);

#endif
