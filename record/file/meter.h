/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_METER_H
#define UNIPROF_RECORD_FILE_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/command/status_line.h"
#include "format/pauses.h"

/* Shows the progress of a recording: a status line, rewritten about once a second by the
 * thread that writes the recording. It never waits for the terminal. */
struct meter {
	struct status_line line;
	uint64_t frequency;  /* requested rounds per second */
	uint64_t start;	     /* ns, monotonic */
	uint64_t time_limit; /* ns; 0: none */
	bool counts_events;  /* weights are no numbers of samples */

	/* Internal members */
	uint64_t next;	  /* time to show the line next, ns, monotonic */
	uint64_t samples; /* total weight of the samples */
	uint64_t slots;	  /* rounds requested so far, of all domains */
	uint64_t rounds;  /* rounds taken since the line was last shown */
	uint64_t recent;  /* rounds requested since the line was last shown */
	double rate;	  /* rounds per second when last shown; < 0: unknown */
};

/* Starts to show a meter on @fd, if that is a terminal; -1: shows nothing. Must be called
 * while files can be opened. */
void meter_start(struct meter *meter, int fd);
void meter_stop(struct meter *meter);

/* Counts a round of @samples samples, each of weight @weight, and the @missed rounds that
 * were not taken before it. */
void meter_round(struct meter *meter, uint64_t samples, uint64_t weight, uint64_t missed);

/* Shows the line, unless it was shown less than half a second before @now (ns,
 * monotonic).
 * @pauses are the pauses of all rounds counted, @bytes the size of the recording. */
void meter_show(struct meter *meter, uint64_t now, const struct pauses *pauses,
		uint64_t bytes);

#endif
