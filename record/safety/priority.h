/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAFETY_PRIORITY_H
#define UNIPROF_RECORD_SAFETY_PRIORITY_H

#include <stdint.h>
#include <time.h>

/*
 * On a busy host, preempting a recorder in the middle of a sample extends the guest's
 * pause, and preempting its writer delays the file. So both threads have priority over
 * other processes, and must leave them some time.
 */
enum priority {
	PRIORITY_USUAL = 0,
	PRIORITY_WRITER = 1,
	PRIORITY_SAMPLER = 2,
	PRIORITY_GUARD = 3, /* resumes the guest while a recorder exits */
};

/* Sets the calling thread's priority (SCHED_FIFO, sched(7)), if permitted; failure is
 * ignored. Threads and processes that it starts don't inherit it. */
void priority_set(enum priority priority);

/*
 * A sixteenth of each 50 ms is left to other processes, so that a dom0 with a single CPU
 * remains usable at the highest sampling rate. The rest must be more than a twentieth:
 * otherwise Linux stops threads with priority for 50 ms (sched_rt_runtime_us in sched(7))
 * and, in the middle of a sample, the guest stays paused for that time.
 */
struct share {
	uint64_t since; /* when the current share began, ns, monotonic */
	uint64_t used;	/* CPU time of threads with priority at @since, ns */
	/* CPU time clock of the thread without priority; NULL: there is none */
	const clockid_t *usual;
};

/* Returns the time until which to sleep, ns, monotonic; 0: no sleep is needed. Must be
 * called at @now (ns, monotonic), first with a @share of zeros except @usual, then
 * between samples. */
uint64_t share_rest(struct share *share, uint64_t now);

/* Computes share_rest() without reading clocks: the threads with priority have used @used
 * ns of CPU time in total. */
uint64_t share_rest_of(struct share *share, uint64_t now, uint64_t used);

#endif
