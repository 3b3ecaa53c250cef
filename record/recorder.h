/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_RECORDER_H
#define UNIPROF_RECORD_RECORDER_H

#include <signal.h>

#include "record/domains/roster.h"
#include "record/file/sink.h"
#include "record/options.h"
#include "record/safety/guard.h"

/*
 * Samples the requested domains, each with its own pacer, until there is a reason to end.
 * Notifies the user of what happens to them.
 */
struct recorder;

/* Prepares to sample; pauses nothing. @host, @guard, which watches this process, @options
 * and @tables must outlive the recorder. NULL with the reason in @err if a domain does
 * not exist or can't be sampled. */
struct recorder *recorder_new(struct host *host, struct guard *guard,
			      const struct record_options *options,
			      const struct domain_tables *tables, struct error *err);
/* Starts the thread that examines guests' code: 0, or -1. Must be called before
 * filter_recorder(). */
int recorder_start(struct recorder *recorder, struct error *err);
/* Releases all domains: afterwards, no domain is paused or has memory mapped. */
void recorder_free(struct recorder *recorder);

/*
 * Samples into @sink from @start (ns, monotonic), until the host's time limit, one of
 * @signals, or the end of the last domain. For END_ERROR, the reason is in @err, unless
 * the sink failed.
 */
enum end_reason recorder_run(struct recorder *recorder, struct sink *sink,
			     const sigset_t *signals, uint64_t start, struct error *err);

/* Returns when sampling ended, ns, monotonic. */
uint64_t recorder_end(const struct recorder *recorder);

/* Returns the domains that were sampled, for their counts. */
const struct roster *recorder_roster(const struct recorder *recorder);

#endif
