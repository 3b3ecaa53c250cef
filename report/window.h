/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_WINDOW_H
#define UNIPROF_REPORT_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

/* One end of a part of a recording's time. */
struct window_end {
	bool given;
	bool is_percent;
	uint64_t value; /* ns since the recording's start, or billionths of a per cent */
};

/* A part of a recording's time, from its first end up to, but without, the second. */
struct window {
	struct window_end from, to;
};

/*
 * "FROM,TO": each in seconds, or in per cent with a '%' behind it; one of them may be
 * left out. -1 when @text is something else, or FROM is not before TO; @window is then
 * unchanged.
 */
int window_parse(const char *text, struct window *window);

/* Whether the recording's length has to be known. */
bool window_has_percent(const struct window *window);

/* The times, in ns, in a recording of that start and length. Where no end was given,
 * or it is the recording's own, they are 0 and UINT64_MAX. */
void window_place(const struct window *window, uint64_t start, uint64_t length,
		  uint64_t *from, uint64_t *to);

#endif
