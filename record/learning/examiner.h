/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_LEARNING_EXAMINER_H
#define UNIPROF_RECORD_LEARNING_EXAMINER_H

#include <time.h>

#include "base/error.h"
#include "tables/found_code.h"

/*
 * Examines guests' code in a separate thread of low priority, so that no samples are
 * missed meanwhile. It has one job at a time, and sleeps between. Only the sampling
 * thread may call these functions. It never waits for the other thread, not even for a
 * lock of malloc(): it should allocate only while there is no job.
 */
struct examiner;

/* Makes an examiner without a thread, which does its jobs at once. NULL if out of
 * memory. */
struct examiner *examiner_new(void);

/* Starts the thread: 0, or -1. Must be called before filter_recorder(). */
int examiner_start(struct examiner *examiner, struct error *err);

/* Returns the clock of the CPU time of the thread, which must have been started. */
const clockid_t *examiner_clock(const struct examiner *examiner);

/* Returns the code that is being examined, and must not be used meanwhile (found_code.h).
 * NULL: the next job can be given. */
const struct found_code *examiner_job(const struct examiner *examiner);

/* Maximum number of parts of code (FOUND_CODE_SIZE) of all guests together. With their
 * tables, they need up to 130 MB. */
#define EXAMINER_PARTS 256

/* Returns whether EXAMINER_PARTS allows another job. */
bool examiner_has_room(const struct examiner *examiner);

/* Gives a job: to examine the part of @found that was read last. */
void examiner_give(struct examiner *examiner, struct found_code *found);

/* Frees code, even if it is being examined. @found may be NULL. */
void examiner_drop(struct examiner *examiner, struct found_code *found);

/* Ends the thread, after all code was dropped, which takes some milliseconds. @examiner
 * may be NULL. */
void examiner_free(struct examiner *examiner);

#endif
