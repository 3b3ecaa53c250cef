/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAMPLER_PARTS_H
#define UNIPROF_RECORD_SAMPLER_PARTS_H

#include "record/sampler.h"
#include "record/tally.h"
#include "unwind/stack/stack.h"

/* Shared by the parts of the sampler: record/sampler.c begins and completes rounds,
 * record/events.c takes those of guests with events, and record/pauses.c takes samples in
 * pauses, for both. */

struct sampler {
	struct guest *guest;
	struct sampling sampling;
	uint32_t weight;	/* weight of the round's samples */
	uint64_t cpu_time_unit; /* ns */
	struct sample *sample;	/* one for each vCPU */
	uint64_t *programs;	/* one for each sample: see struct round */
	uint64_t *ran; /* CPU time of each vCPU at its last sample, in whole units, ns */
	uint64_t *address;	   /* addresses of all samples' chains */
	size_t room;		   /* number of addresses that a chain has room for */
	struct stack_copy *stack;  /* one for each sample; NULL unless captured */
	uint64_t *word;		   /* words of all captured stacks */
	uint64_t begun;		   /* when the round began, ns, monotonic */
	uint64_t batch;		   /* when memory was begun to be read for events */
	uint64_t rehearsed;	   /* time of the last rehearsal, ns, monotonic */
	unsigned int calm;	   /* rounds since the last one with several tries */
	unsigned int tries;	   /* to take the round's samples */
	struct guest_event *event; /* the last event of each vCPU; NULL: there are none */
	struct tally *tally;	   /* of each vCPU */
	struct trust trust;
	bool has_begun; /* events are sampled */
	enum {
		ROUND_BEGINS,
		ROUND_EVENTS, /* there may be more events */
		ROUND_PAUSE,  /* only chains that need a pause are missing */
	} stage;
	struct learning learning;
};

/* Of record/sampler.c. */

/* Begins to read the guest's memory as it is at @now (ns, monotonic), for a round. */
void sampler_begin_pages(struct sampler *sampler, uint64_t now);

/* Of record/pauses.c. */

/* Observes the guest, for the round's outcome. */
int sampler_observe(struct sampler *sampler, struct round *round, struct error *err);
/* Adds a sample of the vCPU @i, without its chain. */
struct sample *sampler_add(struct sampler *sampler, struct round *round, unsigned int i,
			   uint64_t time, uint32_t weight);
/* Copies the stack of the sample with this number; false if it must be unwound now. */
bool sampler_capture(struct sampler *sampler, const struct cpu *cpu,
		     const struct guest_memory *memory, unsigned int number);
/*
 * Walks without pausing, as a rehearsal of the next pause: maps pages that the last walks
 * missed, remembers what walks find in code, and brings the data that the walks in the
 * pause will most likely need into the caches and the TLB, including the code of the walk
 * itself. The guest runs meanwhile, so a rehearsal may follow wrong data; the pause then
 * misses something again.
 */
void sampler_rehearse(struct sampler *sampler, struct round *round);
/* Takes samples in pauses, until nothing is missing or ROUND_PAUSES times. */
int sampler_pause(struct sampler *sampler, struct round *round, struct error *err);

/* Of record/events.c. */

/* Takes a round of a guest with events: one event of each vCPU, until there are none;
 * then samples of those that wait; then, in a pause, what is missing. */
int sampler_take_events(struct sampler *sampler, struct round *round, struct error *err);

#endif
