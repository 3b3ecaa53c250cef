/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_RECORDER_H
#define UNIPROF_RECORD_RECORDER_H

#include <signal.h>

#include "record/options.h"
#include "record/sink.h"
#include "xen/xen.h"

/*
 * Samples the domains that were asked for, each at its own pace, until there is a
 * reason to end. Says on standard error what becomes of them.
 */
struct recorder;

/* Gets ready to sample; pauses nothing. @xen and @options stay the caller's. NULL,
 * and why in @err, when a domain is missing or can't be sampled. */
struct recorder *recorder_new(struct xen *xen, const struct record_options *options,
			      struct error *err);
/* No domain is paused by it, and nothing of them held, afterwards. */
void recorder_free(struct recorder *recorder);

/*
 * Samples into @sink from @start (ns, monotonic) on, until the time is over, one of
 * @signals comes, or no domain is left. For END_ERROR, @err says why, unless the
 * sink does.
 */
enum end_reason recorder_run(struct recorder *recorder, struct sink *sink,
			     const sigset_t *signals, uint64_t start, struct error *err);

/* When sampling ended: ns, monotonic. */
uint64_t recorder_end(const struct recorder *recorder);

/* How many domains were sampled, and for how long, all their times added up (ns). */
unsigned int recorder_domains(const struct recorder *recorder);
uint64_t recorder_time(const struct recorder *recorder);

#endif
