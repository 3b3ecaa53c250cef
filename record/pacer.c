/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/pacer.h"

#include "base/clock.h"
#include "format/recording.h"

/* Over how many rounds pauses are averaged: enough that a single long pause, which
 * happens on a busy host, does not make a few samples stand for very many. */
#define AVERAGE_ROUNDS 128

/* The shortest of the first so many stands for them, as there is nothing yet that
 * one long pause among them could be weighed against; and before there are a few,
 * nothing is concluded. */
#define FIRST_ROUNDS 16
#define FEW_ROUNDS   4

static uint64_t slot_time(const struct pacer *pacer, uint64_t slot)
{
	uint64_t frequency = pacer->pace.frequency;

	return pacer->start + slot / frequency * NS_PER_S +
	       slot % frequency * NS_PER_S / frequency;
}

static uint64_t slot_at(const struct pacer *pacer, uint64_t time)
{
	uint64_t since = time > pacer->start ? time - pacer->start : 0;
	uint64_t slot = since / NS_PER_S * pacer->pace.frequency +
			since % NS_PER_S * pacer->pace.frequency / NS_PER_S;

	/* slot_time() rounds down, so the slot may have begun already. */
	return slot_time(pacer, slot + 1) <= time ? slot + 1 : slot;
}

/* xorshift64 (Marsaglia, Journal of Statistical Software 8:14, 2003). */
static uint64_t next_random(struct pacer *pacer)
{
	pacer->random ^= pacer->random << 13;
	pacer->random ^= pacer->random >> 7;
	pacer->random ^= pacer->random << 17;
	return pacer->random;
}

/* Chooses how many slots the next round stands for, and when it is due. */
static void choose(struct pacer *pacer)
{
	uint64_t begin, length;

	pacer->credit += pacer->stretch;
	pacer->weight = (uint32_t)pacer->credit;
	pacer->credit -= pacer->weight;
	begin = slot_time(pacer, pacer->slot);
	length = slot_time(pacer, pacer->slot + pacer->weight) - begin;
	pacer->due = begin + (pacer->pace.jitter ? next_random(pacer) % length : 0);
}

void pacer_start(struct pacer *pacer, const struct pace *pace, uint64_t start,
		 uint64_t seed)
{
	*pacer = (struct pacer){
		.pace = *pace,
		.start = start,
		.stretch = 1,
		.random = seed ? seed : 1,
	};
	choose(pacer);
}

uint64_t pacer_due(const struct pacer *pacer)
{
	return pacer->due;
}

uint32_t pacer_begin(struct pacer *pacer, uint64_t now, uint64_t *missed)
{
	uint64_t current = slot_at(pacer, now);

	*missed = 0;
	if (current >= pacer->slot + pacer->weight) {
		*missed = current - pacer->slot;
		pacer->slot = current;
	}
	return pacer->weight;
}

/* How long a pause is says how often there may be one. */
static void adapt(struct pacer *pacer, uint64_t paused)
{
	if (!paused)
		return;
	if (pacer->measured >= FIRST_ROUNDS)
		pacer->average += ((double)paused - pacer->average) / AVERAGE_ROUNDS;
	else if (!pacer->measured++ || (double)paused < pacer->average)
		pacer->average = (double)paused;
	if (pacer->measured < FEW_ROUNDS)
		return;
	pacer->stretch = pacer->average / NS_PER_S * (double)pacer->pace.frequency /
			 pacer->pace.max_overhead;
	if (pacer->stretch < 1 || pacer->pace.max_overhead >= 1)
		pacer->stretch = 1;
	if (pacer->stretch > RECORDING_MAX_WEIGHT - 1)
		pacer->stretch = RECORDING_MAX_WEIGHT - 1;
}

void pacer_end(struct pacer *pacer, uint64_t paused)
{
	adapt(pacer, paused);
	pacer->slot += pacer->weight;
	choose(pacer);
}
