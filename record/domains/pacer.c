/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/domains/pacer.h"

#include "base/clock.h"
#include "base/random.h"
#include "format/recording.h"

/*
 * Pauses have a budget that grows with time; no round starts while the budget is used up.
 * An unused budget is saved, up to the growth of AHEAD_NS. The budget grows slightly
 * slower than the limit allows: a part of the pauses allowed in LIMIT_NS is reserved for
 * the saved budget, and for another pause as long as the longest in the last one or two
 * spans of time. The reserved part is at least RESERVE, which is AHEAD_NS in relation to
 * two seconds, and at most half.
 */
#define LIMIT_NS (10 * NS_PER_S)
#define RESERVE	 0.03
#define AHEAD_NS (NS_PER_S * 6 / 100)
#define SPAN_NS	 (60 * NS_PER_S)

/*
 * The distance of rounds normally depends on the average of about AVERAGE_ROUNDS pauses.
 * If it depended on the last pause alone, functions in which pauses are long would get
 * too small or too large a share of the profile. A pause of more than MUCH_LONGER times
 * the average, such as during a stall of the host, counts only up to that length.
 */
#define AVERAGE_ROUNDS 32
#define MUCH_LONGER    4

/* The first pauses are often long, so the shortest of the first FIRST_ROUNDS pauses
 * stands for all of them. The distance is not changed before FEW_ROUNDS pauses. */
#define FIRST_ROUNDS 16
#define FEW_ROUNDS   4

/*
 * Slots that were skipped because the budget was used up are spread over the weights of
 * about SPREAD_ROUNDS rounds, or of the rounds that fit in SPREAD_NS, but of at least
 * SPREAD_LEAST rounds: otherwise the round after a stall would dominate the profile. It
 * is no stall if as many slots were skipped before the previous round.
 */
#define SPREAD_ROUNDS 256
#define SPREAD_NS     (2 * NS_PER_S)
#define SPREAD_LEAST  8

/* Returns when the slot begins, ns. */
static uint64_t slot_time(const struct pacer *pacer, uint64_t slot)
{
	uint64_t frequency = pacer->pace.frequency;

	return pacer->start + slot / frequency * NS_PER_S +
	       slot % frequency * NS_PER_S / frequency;
}

/* Returns the slot that contains the time. */
static uint64_t slot_at(const struct pacer *pacer, uint64_t time)
{
	uint64_t since = time > pacer->start ? time - pacer->start : 0;
	uint64_t slot = since / NS_PER_S * pacer->pace.frequency +
			since % NS_PER_S * pacer->pace.frequency / NS_PER_S;

	/* slot_time() rounds down, so the next slot may have started already. */
	return slot_time(pacer, slot + 1) <= time ? slot + 1 : slot;
}

/* Returns a random delay of less than @length ns; 0 without jitter. */
static uint64_t random_delay(struct pacer *pacer, uint64_t length)
{
	return pacer->pace.jitter ? random_next(&pacer->random) % length : 0;
}

/* Chooses the number of slots of the next round, and when the round is due. */
static void plan_round(struct pacer *pacer)
{
	uint64_t begin, length, last;

	pacer->credit += pacer->stretch;
	pacer->weight = (uint32_t)pacer->credit;
	pacer->credit -= pacer->weight;
	begin = slot_time(pacer, pacer->slot);
	length = slot_time(pacer, pacer->slot + pacer->weight) - begin;
	pacer->due = begin + random_delay(pacer, length);
	if (pacer->due < pacer->budget)
		pacer->due = pacer->budget + random_delay(pacer, length / 4 + 1);
	/* A delay of less than a slot is not late. */
	last = slot_at(pacer, pacer->due) + (pacer->stretch > 1);
	pacer->end = pacer->slot + pacer->weight;
	if (pacer->end <= last)
		pacer->end = last + 1;
}

void pacer_start(struct pacer *pacer, const struct pace *pace, uint64_t start,
		 uint64_t seed)
{
	*pacer = (struct pacer){
		.pace = *pace,
		.start = start,
		.stretch = 1,
		.budget = start,
		.random = seed,
	};
	plan_round(pacer);
}

uint64_t pacer_due(const struct pacer *pacer)
{
	return pacer->due;
}

void pacer_skip(struct pacer *pacer, uint64_t now)
{
	uint64_t current = slot_at(pacer, now);

	if (current < pacer->slot)
		return;
	pacer->slot = current + 1;
	plan_round(pacer);
}

/* Returns the number of rounds that skipped slots are spread over. */
static uint64_t spread_rounds(const struct pacer *pacer)
{
	double rounds = SPREAD_NS / NS_PER_S * (double)pacer->pace.frequency /
			pacer->stretch;

	if (rounds < SPREAD_LEAST)
		return SPREAD_LEAST;
	return rounds < SPREAD_ROUNDS ? (uint64_t)rounds : SPREAD_ROUNDS;
}

uint32_t pacer_begin(struct pacer *pacer, uint64_t now, uint64_t *missed)
{
	uint64_t current = slot_at(pacer, now), next = pacer->slot + pacer->weight;
	uint64_t weight = pacer->weight, left_out = 0, usual;

	*missed = current >= pacer->end ? current + 1 - pacer->end : 0;
	if (current >= next) {
		left_out = current + 1 - next - *missed;
		next = current + 1;
	}
	usual = left_out < pacer->left_out ? left_out : pacer->left_out;
	pacer->left_out = left_out;
	pacer->backlog += left_out - usual;
	pacer->spread += pacer->backlog * SPREAD_ROUNDS / spread_rounds(pacer);
	weight += usual + pacer->spread / SPREAD_ROUNDS;
	pacer->backlog -= pacer->spread / SPREAD_ROUNDS;
	pacer->spread %= SPREAD_ROUNDS;
	if (weight > RECORDING_SMALL_WEIGHT) {
		pacer->backlog += weight - RECORDING_SMALL_WEIGHT;
		weight = RECORDING_SMALL_WEIGHT;
	}
	pacer->slot = next;
	pacer->begun = now;
	return (uint32_t)weight;
}

/* Returns the reserved part of the pauses allowed in LIMIT_NS, ns. */
static double reserved_budget(const struct pacer *pacer)
{
	double limit = pacer->pace.max_overhead;
	double longest = (double)(pacer->longest[0] > pacer->longest[1]
					  ? pacer->longest[0]
					  : pacer->longest[1]);
	double kept = longest + limit * AHEAD_NS;

	if (kept < limit * LIMIT_NS * RESERVE)
		return limit * LIMIT_NS * RESERVE;
	return kept < limit * LIMIT_NS / 2 ? kept : limit * LIMIT_NS / 2;
}

/* Updates the longest pause of this span of time. */
static void note_longest(struct pacer *pacer, uint64_t paused)
{
	uint64_t span = (pacer->begun - pacer->start) / SPAN_NS;

	if (span > pacer->span) {
		pacer->longest[1] = span == pacer->span + 1 ? pacer->longest[0] : 0;
		pacer->longest[0] = 0;
		pacer->span = span;
	}
	if (paused > pacer->longest[0])
		pacer->longest[0] = paused;
}

static void update_average(struct pacer *pacer, double paused)
{
	if (pacer->measured >= FIRST_ROUNDS) {
		if (paused > pacer->average * MUCH_LONGER)
			paused = pacer->average * MUCH_LONGER;
		pacer->average += (paused - pacer->average) / AVERAGE_ROUNDS;
	} else if (!pacer->measured++ || paused < pacer->average) {
		pacer->average = paused;
	}
}

/* Updates the budget, the average and the distance of rounds. */
static void adapt_pace(struct pacer *pacer, uint64_t paused)
{
	double kept = reserved_budget(pacer), now_kept, share, usual, left;

	note_longest(pacer, paused);
	now_kept = reserved_budget(pacer);
	share = pacer->pace.max_overhead - now_kept / LIMIT_NS;
	if (pacer->budget + AHEAD_NS < pacer->begun)
		pacer->budget = pacer->begun - AHEAD_NS;
	if (now_kept > kept)
		pacer->budget += (uint64_t)((now_kept - kept) / share);
	pacer->budget += (uint64_t)((double)paused / share) + 1;

	if (!paused)
		return;
	update_average(pacer, (double)paused);
	if (pacer->measured < FEW_ROUNDS)
		return;
	/* Half of AHEAD_NS should be left after the usual time: the distance is increased
	 * or decreased until it is. */
	usual = pacer->average / share;
	left = ((double)pacer->begun + usual - (double)pacer->budget) / AHEAD_NS;
	left = left < 0 ? 0 : left > 1 ? 1 : left;
	usual *= 1.4 - 0.8 * left;
	pacer->stretch = usual / NS_PER_S * (double)pacer->pace.frequency;
	if (pacer->stretch < 1)
		pacer->stretch = 1;
	if (pacer->stretch > RECORDING_SMALL_WEIGHT - 1)
		pacer->stretch = RECORDING_SMALL_WEIGHT - 1;
}

void pacer_end(struct pacer *pacer, uint64_t paused)
{
	if (pacer->pace.max_overhead < 1)
		adapt_pace(pacer, paused);
	plan_round(pacer);
}
