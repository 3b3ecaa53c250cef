/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_THREADS_WAITS_H
#define UNIPROF_RECORD_THREADS_WAITS_H

#include "base/clock.h"
#include "record/file/sink.h"
#include "record/learning/learning.h"

/*
 * What the threads of a guest wait for. In rounds at a rate of their own, all threads are
 * looked at in the guest's memory while it runs, and the call chain of each one that
 * waits for something new is read. A round is taken in small parts, between rounds of
 * samples, and the caller bounds the share of a host CPU that they take.
 */
struct waits;

/* What was recorded in all. */
struct waits_totals {
	uint64_t rounds, skipped, read, torn, unread;
	uint64_t threads;  /* most threads in a round */
	uint64_t cpu_time; /* ns */
	uint64_t time;	   /* ns for which waits were known */
	/* Lists were too long, or made no sense in most rounds of a guest. */
	bool is_broken;
	bool is_unknown; /* where the guest has its threads was never known */
};

/* Longest time from one chunk of waits to the next, ns, and that for a pipe, from which
 * somebody may read what is new */
#define WAITS_CHUNK	 (15 * NS_PER_S)
#define WAITS_CHUNK_PIPE (2 * NS_PER_S)

/* Rounds have a distance of @period ns, chunks of @most at most. NULL if out of memory.
 * @learning, of the domain with the @index, must outlive the result. */
struct waits *waits_new(uint64_t period, uint64_t most, struct learning *learning,
			uint32_t index);
void waits_free(struct waits *waits);

/* Starts the first round at @start, ns, monotonic. */
void waits_begin(struct waits *waits, uint64_t start);

/* Returns when the next part of a round is due, ns, monotonic. */
uint64_t waits_due(const struct waits *waits);

/* Takes the next part of a round, and passes waits that are over, and at times those that
 * go on, to @sink. After a round of samples was taken. Returns the CPU time used, ns. */
uint64_t waits_take(struct waits *waits, struct sink *sink);

/* Passes on what is not in the recording yet, once. @is_over: the waits are over, because
 * the domain has ended. */
void waits_end(struct waits *waits, struct sink *sink, bool is_over);

/* Adds to @totals what was recorded. */
void waits_add(const struct waits *waits, struct waits_totals *totals);

#endif
