/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_DIFF_H
#define UNIPROF_REPORT_DIFF_H

#include "report/output.h"

/* Two profiles to compare. */
enum diff_side {
	DIFF_BASELINE = 0,
	DIFF_NEW = 1,
	DIFF_SIDES
};

struct diff {
	struct report
		reports[DIFF_SIDES];   /* complete, but without outputs of their own */
	const char *names[DIFF_SIDES]; /* of their recordings */
	bool has_domains;      /* one of them has several: they are kept apart, by name */
	double percent_limit;  /* of tables */
	bool normalize;	       /* the baseline is scaled to what the other comes to */
	enum diff_side widths; /* which one pictures draw */
	FILE *out;	       /* write errors are left in it */
};

/* One way to write a difference. */
struct diff_output {
	const char *name;
	const char *about;  /* for --help: one line */
	bool has_limit;	    /* knows percent_limit, */
	bool can_normalize; /* normalize, */
	bool has_widths;    /* widths, */
	bool can_invert;    /* the reports' view.invert */
	int (*write)(
		const struct diff *diff); /* -1 when memory or room for a file is short */
};

/* As the outputs of `uniprof report` that are called the same. */
int diff_text_write(const struct diff *diff);
int diff_csv_write(const struct diff *diff);
int diff_json_write(const struct diff *diff);
int diff_folded_write(const struct diff *diff);
int diff_flamegraph_write(const struct diff *diff);

/* A function in both. */
struct diff_row {
	const char *domain, *function; /* domain: "" unless there are several */
	uint64_t count[DIFF_SIDES];    /* of its own: samples or us */
	double percent[DIFF_SIDES];
};

struct diff_rows {
	struct diff_row *list;
	size_t count;
	void *histograms[DIFF_SIDES]; /* what the names belong to */
};

/*
 * Makes the rows of those functions that have at least the percent limit in one of
 * both, by how much their per cents differ, the most first. -1 when memory is
 * short; diff_rows_free() is due either way.
 */
int diff_rows_make(struct diff_rows *rows, const struct diff *diff);
void diff_rows_free(struct diff_rows *rows);

#endif
