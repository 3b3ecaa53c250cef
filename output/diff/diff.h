/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_DIFF_DIFF_H
#define UNIPROF_OUTPUT_DIFF_DIFF_H

#include "output/report.h"

/* Two profiles to compare. */
enum diff_side {
	DIFF_BASELINE = 0,
	DIFF_NEW = 1,
	DIFF_SIDES
};

struct diff {
	struct report reports[DIFF_SIDES]; /* complete, but not written */
	const char *names[DIFF_SIDES];	   /* names of the recordings */
	bool has_domains; /* one of the reports has several domains: shown separately, by
			     name */
	double percent_limit;  /* for tables */
	enum report_sort sort; /* for tables: the order, and which values they show */
	bool normalize; /* scale the baseline's counts to the total of the new recording
			 */
	enum diff_side widths; /* side whose frames pictures draw */
	size_t columns; /* width of tables; 0: that of the terminal, or unlimited */
	FILE *out;	/* keeps write errors */
};

/* An output format of `uniprof diff`. */
struct diff_output {
	const char *name;
	const char *about;  /* for --help: one line */
	bool has_limit;	    /* supports percent_limit */
	bool can_normalize; /* supports normalize */
	bool has_widths;    /* supports widths */
	bool can_invert;    /* supports the reports' view.invert */
	/* -1 if out of memory, or for the reason in the reports' @why. */
	int (*write)(const struct diff *diff);
};

/* Write like the formats of these names in `uniprof report`. */
int diff_text_write(const struct diff *diff);
int diff_csv_write(const struct diff *diff);
int diff_json_write(const struct diff *diff);
int diff_folded_write(const struct diff *diff);
int diff_flamegraph_write(const struct diff *diff);

/* A count of both profiles. */
struct diff_value {
	uint64_t count[DIFF_SIDES]; /* samples or us */
	double percent[DIFF_SIDES];
	double delta;	  /* percentage points */
	double low, high; /* 95 % interval of delta */
};

/* A function of both profiles. */
struct diff_row {
	const char *domain, *function; /* domain: "" unless there are several */
	struct diff_value self, total;
};

struct diff_rows {
	struct diff_row *list;
	size_t count;
	void *histograms[DIFF_SIDES]; /* histograms that own the names */
};

/* Whether the difference may be due to chance: 0 is in an interval that contains, with 95
 * %, the differences of all rows together. */
bool diff_is_noise(const struct diff_rows *rows, const struct diff_value *value);

/*
 * Makes the rows of the functions that reach the percent limit in either profile, sorted
 * by name or by the difference of their percentages, largest first. -1 if out of memory;
 * diff_rows_free() must be called either way.
 */
int diff_rows_make(struct diff_rows *rows, const struct diff *diff);
/* Returns the value that the table shows. */
const struct diff_value *diff_shown(const struct diff *diff, const struct diff_row *row);
void diff_rows_free(struct diff_rows *rows);

#endif
