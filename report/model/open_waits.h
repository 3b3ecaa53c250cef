/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_OPEN_WAITS_H
#define UNIPROF_REPORT_MODEL_OPEN_WAITS_H

#include "base/tree.h"
#include "format/waits.h"
#include "report/model/measure.h"
#include "report/model/stacks.h"

/* One wait that counts. */
struct counted_wait {
	uint64_t from, to; /* part of the wait in the selected time, ns */
	uint32_t domain;
	uint32_t stack;	    /* call chain: a node of the profile's stacks */
	uint32_t recording; /* index of the recording */
	unsigned int state; /* enum wait_state, or a later version's */
	uint64_t count;	    /* us */
	const struct recording_process *thread;
};

/* Who is told of waits, each once its end is known. */
struct wait_listener {
	int (*wait)(void *arg, const struct counted_wait *wait); /* NULL: nobody */
	void *arg;
	uint32_t recording;
	bool is_beside; /* the stacks count samples: the waits are in none of their sums
			 */
};

/*
 * The waits of a recording that are not over yet, each of which is written again once it
 * is (FORMAT.md, 5.8): meanwhile, it counts 1. Starts as zeros.
 */
struct open_waits {
	struct tree index;	/* one root, domains, and threads */
	struct open_wait *open; /* by node of the index: the thread's wait */
	uint32_t room;
};

void open_waits_free(struct open_waits *waits);

/* Takes note of a chunk's waits, after stacks_count(). -1 if out of memory, or if the
 * listener returns -1. */
int open_waits_follow(struct open_waits *waits, struct measure *measure,
		      struct stacks *stacks, const struct waits_batch *batch,
		      const struct wait_listener *listener);

/* Counts the waits that went on until @until (ns), the end of a recording, and forgets
 * them. -1 if the listener returns -1. */
int open_waits_end(struct open_waits *waits, struct measure *measure,
		   struct stacks *stacks, uint64_t until,
		   const struct wait_listener *listener);

#endif
