/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SINK_H
#define UNIPROF_RECORD_SINK_H

#include <signal.h>
#include <stdbool.h>

#include "format/writer.h"
#include "record/sampler.h"

/*
 * Where rounds go: a thread of its own takes them, through a ring, to the
 * writer, and flushes what is there before it is a second old. Whoever samples
 * never waits for it.
 */
struct sink;

/* Gets the memory, which takes its time. NULL, and why in @err, on failure. */
struct sink *sink_new(struct error *err);
/* For one that was not started. */
void sink_free(struct sink *sink);

/* From here on takes rounds to @writer, which stays the caller's but is not to be used
 * until sink_end(). 0, or -1 and why in @err. */
int sink_start(struct sink *sink, struct writer *writer, struct error *err);

/* Describes a domain before its first round. False when there is no room now; it is
 * to be tried again then. */
bool sink_domain(struct sink *sink, const struct recording_domain *domain);

/*
 * Hands over a round of a domain that was described, and how many deadlines were missed
 * before it. When there is no room, the round's samples are counted as lost.
 */
void sink_round(struct sink *sink, const struct round *round, uint64_t missed);

/* Whether writing has failed: sampling on is of no use then. */
bool sink_failed(const struct sink *sink);

/*
 * Has everything written that was handed over, ends the recording with @end as
 * writer_end() does, and ends the thread. 0, or -1 and why writing failed. Frees
 * @sink. Where it takes long, as with a pipe that nobody reads, the blocked @signals
 * may end the process from then on: no guest is to be paused any more.
 */
int sink_end(struct sink *sink, struct recording_end *end, const sigset_t *signals,
	     struct error *err);

#endif
