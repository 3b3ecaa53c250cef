/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_EXAMINER_H
#define UNIPROF_RECORD_EXAMINER_H

#include <time.h>

#include "tables/found_code.h"

/*
 * Examines guests' code in a separate thread of low priority, so that no samples are
 * missed meanwhile. It has one job at a time, and sleeps between. Only the sampling
 * thread may call these functions. It never waits for the other thread, not even for a
 * lock of malloc(): it should allocate only while there is no job.
 */
struct examiner;

/* Without a thread, jobs are done at once. NULL if out of memory. */
struct examiner *examiner_new(void);

/* Starts the thread; before filter_recorder(). 0, or -1. */
int examiner_start(struct examiner *examiner, struct error *err);

/* The CPU time of the thread, which has to be started. */
const clockid_t *examiner_clock(const struct examiner *examiner);

/* Whose code is examined now: until then, it may not be used (found_code.h). NULL: the
 * next job can be given. */
const struct found_code *examiner_job(const struct examiner *examiner);

/* Examines what was read last. Drops its reference to @found afterwards. */
void examiner_give(struct examiner *examiner, struct found_code *found);

/* Ends the thread. If the job's code was freed by all others, that takes some
 * milliseconds. @examiner may be NULL. */
void examiner_free(struct examiner *examiner);

#endif
