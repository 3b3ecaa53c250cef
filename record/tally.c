/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/tally.h"

/* Events are judged in groups of this size, of which at most this part may be cut. */
#define JUDGED	 256
#define CUT_PART 8

/* The scheduler adds to a running thread's CPU time at its ticks only: the idle time of
 * one interval can be too long or, below 0, too short. */
void tally_observe(struct tally *tally, uint64_t now, uint64_t ran, uint64_t waited)
{
	uint64_t wall = now - tally->time;
	uint64_t busy = ran - tally->ran + waited - tally->waited;

	if (!tally->time || now <= tally->time || ran < tally->ran ||
	    waited < tally->waited) {
		wall = busy = 0;
	}
	tally->idle += wall;
	tally->idle -= busy < tally->idle ? busy : tally->idle;
	tally->time = now;
	tally->ran = ran;
	tally->waited = waited;
}

uint32_t tally_take_idle(struct tally *tally, uint64_t period)
{
	uint64_t weight = tally->idle / period;

	if (weight > UINT32_MAX)
		weight = UINT32_MAX;
	tally->idle -= weight * period;
	return (uint32_t)weight;
}

bool trust_count(struct trust *trust, bool is_cut)
{
	trust->cut += is_cut;
	if (++trust->events < JUDGED)
		return true;
	if (trust->cut > JUDGED / CUT_PART)
		return false;
	*trust = (struct trust){0};
	return true;
}
