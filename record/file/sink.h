/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_SINK_H
#define UNIPROF_RECORD_FILE_SINK_H

#include <signal.h>
#include <stdbool.h>

#include "record/file/meter.h"
#include "record/file/kernel_names.h"
#include "record/file/series.h"
#include "record/linux/mappings.h"
#include "record/sampler.h"

/*
 * The destination of rounds: a separate thread passes them, through a ring, to the
 * writer, and flushes them before they are a second old. The sampling thread never waits
 * for it.
 */
struct sink;

/* Allocates the memory, which takes some time. NULL with the reason in @err on failure.
 */
struct sink *sink_new(struct error *err);
/* Frees a sink that was not started. */
void sink_free(struct sink *sink);

/*
 * Starts to write rounds to @series, which has begun, and to show @meter, which was
 * started, unless it is NULL. The caller still owns both, but must not use them until
 * sink_end(). Returns once the thread has its priority and has dropped its privileges: 0,
 * or -1 with the reason in @err.
 */
int sink_start(struct sink *sink, struct series *series, struct meter *meter,
	       struct error *err);

/* Describes a domain before its first round, or again. False if there is no space now;
 * the caller may try again later. */
bool sink_domain(struct sink *sink, const struct recording_domain *domain);

/* Passes on the names of a domain's kernel, which the sink owns from now on; NULL: none.
 * Without space, they are dropped. */
void sink_kernel(struct sink *sink, uint32_t domain, struct kallsyms *kallsyms);

/* Likewise the mappings of one of a domain's processes. */
void sink_mappings(struct sink *sink, uint32_t domain, struct process_mappings *mappings);

/*
 * Adds a round, and the number of deadlines missed before it. If there is no space, or
 * its domain could not be described, the round's samples are counted as lost.
 */
void sink_round(struct sink *sink, const struct round *round, uint64_t missed);

/* Adds a wait; without space, it is dropped. */
void sink_wait(struct sink *sink, const struct wait *wait);
/* Has the waits so far written as a chunk, with these counts. */
void sink_waits(struct sink *sink, const struct waits_counts *counts);
/* Returns the number of files begun so far. */
unsigned int sink_files(const struct sink *sink);
/* Returns when the file after that of @time begins, as series_next_start(). */
uint64_t sink_next_file(const struct sink *sink, uint64_t time);

/* Returns whether writing has failed, so that further samples would be lost. */
bool sink_failed(const struct sink *sink);

/*
 * Writes all rounds that were added, ends the recording with @end as series_end() does,
 * stops the meter, ends the thread and frees @sink. 0, or -1 with the reason in @err. If
 * this takes long, for example if no process reads from a pipe, @signals are unblocked
 * and may end the process. So no guest may be paused when this is called.
 */
int sink_end(struct sink *sink, struct recording_end *end, const sigset_t *signals,
	     struct error *err);

#endif
