/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_OUTPUT_H
#define UNIPROF_OUTPUT_OUTPUT_H

#include <stdbool.h>

#include "report/model/notes/profile_notes.h"
#include "report/model/profile_read.h"
#include "output/report.h"

/* The effect of --srcline in a format. */
enum output_lines {
	OUTPUT_LINES_IN_NAMES, /* functions are named "NAME FILE:LINE" */
	OUTPUT_LINES_APART,    /* lines are in separate fields */
	OUTPUT_LINES_NONE,     /* not supported */
};

/* A format of reports: a file of this folder, and a line in output.c's list. */
struct output {
	const char *name;
	const char *about; /* for --help: one line */
	bool has_columns;  /* supports per_vcpu and no_children of struct report_view */
	bool has_limit;	   /* supports percent_limit */
	bool can_invert;   /* supports invert */
	bool bare_names;   /* shows C++ names without parameters, as perf does */
	bool sees_all;	   /* also gets samples that count 0: struct profile_listener */
	bool lacks_functions; /* shows no functions and no call chains */
	bool is_binary;	      /* is no text, and of no use on a terminal */
	bool for_browsers;    /* is a file that web browsers show */
	bool has_baseline;    /* compares with a second recording */
	bool counts_waits;    /* supports MEASURE_WAIT, without samples of vCPUs */
	bool splits_waits;    /* and then wants to have threads told apart */
	bool one_recording;   /* can't show several recordings: each has its own time */
	bool all_weights; /* gets samples with all weights; the view has the chosen one */
	enum output_lines lines;

	/* Returns the state for the other functions; NULL if out of memory, or for the
	 * reason in report->why. */
	void *(*begin)(const struct report *report);
	/* Called for each sample, in the file's order. NULL: the report's stacks suffice.
	 */
	int (*sample)(void *state, const struct counted_sample *sample);
	/* Called for each wait, once its end is known: in no order, but those of a thread
	 * nearly in that of time. NULL: likewise. */
	int (*wait)(void *state, const struct counted_wait *wait);
	/* Called after the last sample. Like sample(), -1 if begin() would return NULL.
	 */
	int (*end)(void *state);
	void (*free)(void *state);
};

/*
 * Reads the opened profile and writes it to @out in the format. Adds the notes on the
 * profile that @notes asks for, if all is well; NULL: none. @progress can be NULL. -1
 * with @err set, which is empty if @out has a write error.
 */
int output_write(const struct output *format, struct profile *profile,
		 const struct report_view *view, const struct note_options *notes,
		 const struct profile_progress *progress, FILE *out, struct error *err);

/* The output called @name; NULL if there is none. */
const struct output *output_find(const char *name);
/* All outputs, in the order of --help; ends with NULL. */
const struct output *const *output_list(void);

#endif
