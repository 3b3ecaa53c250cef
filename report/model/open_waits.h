/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_MODEL_OPEN_WAITS_H
#define UNIPROF_REPORT_MODEL_OPEN_WAITS_H

#include "base/tree.h"
#include "format/waits.h"
#include "report/model/measure.h"
#include "report/model/stacks.h"

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

/* Takes note of a chunk's waits, after stacks_count(). -1 if out of memory. */
int open_waits_follow(struct open_waits *waits, struct measure *measure,
		      struct stacks *stacks, const struct waits_batch *batch);

/* Counts the waits that went on until @until (ns), the end of a recording, and forgets
 * them. */
void open_waits_end(struct open_waits *waits, struct measure *measure,
		    struct stacks *stacks, uint64_t until);

#endif
