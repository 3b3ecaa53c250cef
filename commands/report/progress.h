/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_REPORT_PROGRESS_H
#define UNIPROF_COMMANDS_REPORT_PROGRESS_H

#include <stdint.h>

#include "base/command/status_line.h"
#include "report/model/profile_read.h"

/*
 * A progress line on a terminal: written once a second, from the second second on, and
 * erased at the end.
 */
struct progress {
	struct status_line line;
	uint64_t whole; /* total bytes; 0 if unknown */
	uint64_t next;	/* when to write next, ns */
};

/* The line is on standard error, if that is a terminal. */
void progress_start(struct progress *progress, uint64_t whole);
void progress_update(struct progress *progress, uint64_t done);
void progress_end(struct progress *progress);

/* Shows the reading of a profile in @progress, which must outlive it. */
struct profile_progress progress_of_profile(struct progress *progress);

#endif
