/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_DOMAINS_PACER_H
#define UNIPROF_RECORD_DOMAINS_PACER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Decides when to take a round of samples. Time is divided into slots, one for each
 * wanted round, at times that never drift. Every slot has a round, unless pauses would
 * exceed their limit. Rounds are then further apart, and the weight of a round's samples
 * is the number of slots that the round stands for. Pure arithmetic: all times come from
 * the caller, in ns of one clock.
 *
 * The limit on pauses holds from the start: however long a pause was, the next round
 * waits until the limit allows it. The pauses of any 10 s stay below the limit even if
 * another one as long as the longest of the last minute is added. Only a longer pause,
 * which can't be foreseen, exceeds the limit, until later rounds have made up for it.
 */
struct pace {
	uint64_t frequency;  /* slots per second */
	double max_overhead; /* share of the time that pauses may take; 1: no limit */
	bool jitter; /* rounds start at a random time in the slot, not at its start */
};

struct pacer {
	struct pace pace;
	uint64_t start;	   /* start of the first slot, ns */
	uint64_t slot;	   /* the first slot of the next round */
	uint32_t weight;   /* number of slots of the next round */
	uint64_t end;	   /* the first slot in which the next round is late */
	uint64_t due;	   /* when the next round should start, ns */
	double stretch;	   /* ideal number of slots per round; at least 1 */
	double credit;	   /* fraction of a slot that is in no weight yet */
	uint64_t left_out; /* slots skipped before the last round, for lack of budget */
	uint64_t backlog;  /* skipped slots that are in no weight yet */
	uint64_t spread; /* part of the backlog for the next weight, in 1/SPREAD_ROUNDS of
			    a slot */
	uint64_t begun;	 /* when the last round started, ns */
	uint64_t budget; /* when the budget for pauses allows the next round, ns */
	double average;	 /* pause of the last rounds, ns */
	unsigned int measured; /* number of rounds in the average, up to FIRST_ROUNDS */
	uint64_t longest[2]; /* longest pause in this span and in the previous one, ns */
	uint64_t span;	     /* number of this span of time */
	uint64_t random;     /* state of the generator for jitter */
};

/* Starts the first slot at @start. @seed selects the sequence of the jitter. */
void pacer_start(struct pacer *pacer, const struct pace *pace, uint64_t start,
		 uint64_t seed);

/* Returns when the next round is due, ns; in the past if the round is late. */
uint64_t pacer_due(const struct pacer *pacer);

/* Starts a round at @now, not before it is due. Returns its weight, and in @missed the
 * number of slots that passed without a round because this round is late. */
uint32_t pacer_begin(struct pacer *pacer, uint64_t now, uint64_t *missed);

/* Skips the slots before @now, which are neither missed nor in a weight. Must not be
 * called between pacer_begin() and pacer_end(). */
void pacer_skip(struct pacer *pacer, uint64_t now);

/* Ends the round, in which the guest was paused for @paused ns. */
void pacer_end(struct pacer *pacer, uint64_t paused);

#endif
