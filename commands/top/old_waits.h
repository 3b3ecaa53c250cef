/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_OLD_WAITS_H
#define UNIPROF_COMMANDS_TOP_OLD_WAITS_H

#include "base/tree.h"
#include "format/waits.h"

/*
 * The waits of chunks that are left out of a copy, as far as they went on: the last one
 * of each thread. Starts as zeros.
 */
struct old_waits {
	struct tree index; /* one root; the keys: domains, and ids of threads */
	struct wait *list; /* by node of the index; without a state of going on: none */
	bool *goes_on;	   /* likewise */
	uint32_t room;
	struct waits_counts counts; /* of the chunks */
};

void old_waits_free(struct old_waits *waits);

/* Takes note of a chunk that is left out. -1 if out of memory. */
int old_waits_add(struct old_waits *waits, const struct waits_batch *batch);

#endif
