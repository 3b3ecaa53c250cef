/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_PACER_H
#define UNIPROF_RECORD_PACER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Says when to take a round of samples. Time is cut into slots, as many a second
 * as rounds are wanted, at places that never drift. A round stands for one slot,
 * or for several when pauses would else cost the guest more than they may; how
 * many is its samples' weight. Pure arithmetic: all times are the caller's, in
 * ns of one clock.
 */
struct pace {
	uint64_t frequency;  /* slots a second */
	double max_overhead; /* part of the time that pauses may take; 1: any */
	bool jitter;	     /* anywhere in its slots, not at their beginning */
};

struct pacer {
	struct pace pace;
	uint64_t start;
	uint64_t slot;	       /* the next round's first */
	uint32_t weight;       /* and how many */
	double stretch;	       /* slots for a round, as they ought to be; at least 1 */
	double credit;	       /* what of them is not in a weight yet */
	uint64_t due;	       /* when the next round is to begin */
	uint64_t random;       /* state of the jitter's generator */
	double average;	       /* of the last rounds' pauses, ns */
	unsigned int measured; /* how many were, up to a few */
};

/* The first slot begins at @start. @seed makes the jitter differ, or not. */
void pacer_start(struct pacer *pacer, const struct pace *pace, uint64_t start,
		 uint64_t seed);

/* When the next round is due; in the past when it is late. */
uint64_t pacer_due(const struct pacer *pacer);

/* A round begins at @now, not before it is due: its weight. In @missed, how many
 * slots have passed without a round. */
uint32_t pacer_begin(struct pacer *pacer, uint64_t now, uint64_t *missed);

/* The round has ended, and the guest was paused for @paused of it. */
void pacer_end(struct pacer *pacer, uint64_t paused);

#endif
