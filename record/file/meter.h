/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_METER_H
#define UNIPROF_RECORD_FILE_METER_H

#include <stdint.h>

#include "base/status_line.h"
#include "format/pauses.h"

/*
 * Shows how a recording goes: a status line, rewritten about once a second by the thread
 * that writes the recording. It never waits for the terminal.
 */
struct meter {
	struct status_line line;
	uint64_t frequency;  /* requested rounds per second */
	uint64_t start;	     /* ns, monotonic */
	uint64_t time_limit; /* ns; 0: none */

	/* Internal. */
	uint64_t next;		 /* when to show it next */
	uint64_t samples;	 /* total weight */
	uint64_t slots;		 /* requested rounds in the time so far, of all domains */
	uint64_t rounds, recent; /* taken, and requested, since it was last shown */
	double rate;		 /* at that time, in rounds per second; < 0: unknown */
};

/* Starts it on the terminal @fd, if it is one; -1: shows nothing. Must be called while
 * files can be opened. */
void meter_start(struct meter *meter, int fd);
void meter_stop(struct meter *meter);

/* Counts a round of so many @samples, each of which has this @weight; @missed rounds
 * before it were not taken. */
void meter_round(struct meter *meter, uint64_t samples, uint64_t weight, uint64_t missed);

/* Shows it, unless that was less than half a second before @now (ns, monotonic). @pauses
 * are those of all rounds that were counted, @bytes the size of the recording. */
void meter_show(struct meter *meter, uint64_t now, const struct pauses *pauses,
		uint64_t bytes);

#endif
