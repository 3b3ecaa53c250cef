/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_THREADS_LOOK_H
#define UNIPROF_RECORD_THREADS_LOOK_H

#include "record/learning/learning.h"
#include "record/threads/threads.h"

/* All threads of a guest at about one time, for `uniprof stack --threads`. */

enum thread_chain {
	THREAD_RUNS,   /* on a CPU: it has no chain here */
	THREAD_READ,   /* its chain is of one wait */
	THREAD_TORN,   /* the thread ran whenever its chain was read */
	THREAD_UNREAD, /* its stack could not be read */
};

/* A thread as it was seen. */
struct thread_seen {
	enum thread_chain kind;
	struct thread thread;
	struct thread_wait wait; /* if its kind is THREAD_READ */
	struct chain chain;	 /* likewise */
	uint64_t ran; /* when it was last known to run, ns of the guest's own clock */
};

struct threads_seen {
	struct thread_seen *list; /* in the order of the guest's own lists */
	size_t count;
	uint64_t now; /* the latest time that is known of the guest's own clock, ns */
	bool is_full; /* these are all threads */
};

/* Looks at all threads of a guest of which a round was taken, without pausing it. -1 with
 * the reason in @err if it is not known where the guest has them. */
int threads_look(struct learning *learning, struct threads_seen *seen, struct error *err);
void threads_seen_free(struct threads_seen *seen);

#endif
