/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_THREADS_PART_H
#define UNIPROF_RECORD_THREADS_PART_H

#include "record/threads/threads.h"

/* Chains that are read at once, at most */
#define PART_CHAINS 8

/* A thread whose chain is to be read. */
struct candidate {
	struct thread thread;
	struct thread_wait wait;
	struct chain chain;
	bool is_read;
};

/* What is done at once of a round of waits. */
struct part {
	struct thread_view view;
	struct candidate candidate[PART_CHAINS];
	unsigned int candidates;
	uint64_t address[PART_CHAINS][CHAIN_ROOM];
};

/* Reads the chains of the candidates, and drops candidates that have run meanwhile: their
 * chains may be of two waits. Returns the number of those that were dropped. */
unsigned int part_read(struct part *part, struct learning *learning);

#endif
