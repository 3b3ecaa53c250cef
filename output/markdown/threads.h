/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_MARKDOWN_THREADS_H
#define UNIPROF_OUTPUT_MARKDOWN_THREADS_H

#include "base/tree.h"
#include "output/output.h"

/* How long each thread waited. */
struct wait_thread {
	uint32_t domain;    /* index of the thread's domain */
	uint32_t recording; /* index of the thread's recording */
	struct recording_process thread;
	uint64_t count;		      /* waits */
	uint64_t total;		      /* us */
	uint64_t longest;	      /* us */
	uint64_t states[WAIT_STATES]; /* parts of @total by enum wait_state, us */
};

/* All threads; starts as zeros. */
struct wait_threads {
	struct tree index; /* one root; the keys: domains, and ids of threads */
	struct wait_thread *list;
	size_t count, room;
	uint32_t *number; /* by node of the index: place in the list, plus 1 */
	uint32_t node_room;
};

void wait_threads_free(struct wait_threads *threads);

/* Adds a wait. Returns its thread, valid until the next call; NULL if out of memory. */
struct wait_thread *wait_threads_add(struct wait_threads *threads,
				     const struct counted_wait *wait);

/* Writes the table of the threads that waited longest. No wait may be added afterwards.
 * -1 if out of memory. */
int wait_threads_write(struct wait_threads *threads, const struct report *report);

#endif
