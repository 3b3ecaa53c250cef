/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_PROGRESS_H
#define UNIPROF_REPORT_LOAD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status_line.h"

/*
 * A progress line on a terminal: written once a second, from the second second on, and
 * erased at the end.
 */
struct progress {
	struct status_line line;
	uint64_t whole; /* total bytes; 0 if unknown */
	uint64_t next;	/* when to write next, ns */
};

/* On standard error, if @is_watched and it is a terminal. */
void progress_start(struct progress *progress, bool is_watched, uint64_t whole);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

#endif
