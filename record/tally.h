/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_TALLY_H
#define UNIPROF_RECORD_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The weights of samples of a vCPU with events (struct guest, has_events). An event
 * stands for a period of CPU time. What a vCPU waited, neither running nor waiting for a
 * CPU, is summed up, and is the weight of a sample of the waiting vCPU. Starts zeroed.
 * Pure arithmetic.
 */
struct tally {
	uint64_t time;	      /* time of the last observation, ns, monotonic; 0: none */
	uint64_t ran, waited; /* CPU time and time waited for a CPU, by then, ns */
	uint64_t idle;	      /* time that is in no sample yet, ns */
	uint32_t due;	      /* events whose chains have to be found in a pause */
};

/* Adds what happened since the last observation, which this one follows at @now. */
void tally_observe(struct tally *tally, uint64_t now, uint64_t ran, uint64_t waited);
/* Takes the weight of a sample of the waiting vCPU: a whole number of @period ns, or 0.
 */
uint32_t tally_take_idle(struct tally *tally, uint64_t period);

/* Whether chains are whole without pauses, by the last events of a guest. Starts zeroed.
 */
struct trust {
	unsigned int events, cut;
};

/* Counts an event. False if too many chains were cut: the guest is better paused. */
bool trust_count(struct trust *trust, bool is_cut);

#endif
