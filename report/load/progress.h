/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_PROGRESS_H
#define UNIPROF_REPORT_LOAD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * A progress line on a terminal: written once a second, from the second second on, and
 * erased at the end.
 */
struct progress {
	FILE *to;	/* NULL: no output */
	uint64_t whole; /* total bytes; 0 if unknown */
	uint64_t next;	/* when to write next, ns */
	bool shown;
};

void progress_start(struct progress *progress, FILE *to, uint64_t whole);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif
