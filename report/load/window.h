/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_WINDOW_H
#define UNIPROF_REPORT_LOAD_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* One end of a time window. */
struct window_end {
	bool given;
	bool is_percent;
	uint64_t value; /* ns since the recording's start, or billionths of a percent */
};

/* A time window of a recording: from its first end (inclusive) to the second (exclusive).
 */
struct window {
	struct window_end from, to;
};

/*
 * Parses "FROM,TO": each in seconds, or in percent followed by '%'; one can be omitted.
 * -1 if @text is invalid or FROM is not before TO; @window is then unchanged.
 */
int window_parse(const char *text, struct window *window);

/* Whether the recording's length must be known. */
bool window_has_percent(const struct window *window);

/* The times, in ns, for a recording of that start and length; 0 and UINT64_MAX for ends
 * that were not given or are the recording's own. */
void window_place(const struct window *window, uint64_t start, uint64_t length,
		  uint64_t *from, uint64_t *to);

#endif
