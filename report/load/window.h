/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_WINDOW_H
#define UNIPROF_REPORT_LOAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* One end of a time window. */
struct window_end {
	bool given;
	enum {
		WINDOW_SECONDS, /* ns since the recording's start */
		WINDOW_PERCENT, /* share of the recording's length, in billionths */
		WINDOW_CLOCK,	/* ns since midnight in the local time zone, on any day */
		WINDOW_DATE,	/* ns since 1970-01-01 UTC */
	} unit;
	uint64_t value;
};

/* A time window of a recording: from its first end (inclusive) to the second (exclusive).
 */
struct window {
	struct window_end from, to;
};

/* The time that a recording covers, in ns. */
struct window_span {
	uint64_t start;	 /* start by the clock of the samples */
	uint64_t wall;	 /* start by the wall clock, since 1970-01-01 UTC; 0: unknown */
	uint64_t length; /* may be 0 unless window_needs_length() */
};

/*
 * Parses "FROM,TO"; one can be omitted. Each is in seconds, in percent followed by '%',
 * the local time of day (HH:MM[:SS[.FRACTION]]), or that after a date as in ISO 8601
 * (YYYY-MM-DDT), which may end with a time zone (Z or +HH:MM). -1 if @text is invalid or
 * FROM is not before TO; @window is then unchanged.
 */
int window_parse(const char *text, struct window *window);

/* Whether the recording's length must be known. */
bool window_needs_length(const struct window *window);

/*
 * Sets @from and @to to times by the clock of the samples, in ns; to 0 and UINT64_MAX for
 * ends that were not given or are the recording's own. A time of day for TO is the first
 * one after FROM or else the recording's start, for FROM the last one before TO or else
 * the recording's end. -1 if the time of day at which the recording started is needed and
 * unknown.
 */
int window_place(const struct window *window, const struct window_span *span,
		 uint64_t *from, uint64_t *to);

#endif
