/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "record/pacer.h"
#include "tests/bench/bench.h"
#include "tests/bench/ways.h"

/* Steps of halving, by ratio, between what is taken to be held and what not. */
#define LOWEST	20.0
#define HIGHEST 50000.0
#define STEPS	9

/* A host that stops an emulator for a moment has deadlines missed at any rate. */
#define MAY_MISS 20 /* one of so many */

struct way {
	struct current *current;
	struct first *first; /* NULL: it's the current one */
};

static int take_sample(const struct way *way, uint64_t *paused, struct error *err)
{
	struct round round;
	uint64_t whole;

	*paused = 0;
	if (way->first) {
		*paused = first_sample(way->first, NULL);
		return 0;
	}
	if (current_sample(way->current, &round, &whole, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round.pauses; i++)
		*paused += round.pause[i];
	return 0;
}

/* 1 when it holds @rate, 0 when it does not, -1 on errors. */
static int holds(const struct way *way, uint64_t rate, uint64_t ms, struct error *err)
{
	const struct pace pace = {.frequency = rate, .max_overhead = 1};
	uint64_t start = clock_monotonic(), all_missed = 0;
	uint64_t slots = rate * ms / 1000;
	struct pacer pacer;

	pacer_start(&pacer, &pace, start, 1);
	while (pacer.slot < slots) {
		uint64_t due = pacer_due(&pacer), now, missed, paused;
		const struct timespec until = {(time_t)(due / NS_PER_S),
					       (long)(due % NS_PER_S)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		now = clock_monotonic();
		pacer_begin(&pacer, now, &missed);
		if (take_sample(way, &paused, err) < 0)
			return -1;
		pacer_end(&pacer, now, clock_monotonic(), paused);
		all_missed += missed;
	}
	return all_missed * MAY_MISS <= slots;
}

/* The geometric mean, by Newton's method from above it. */
static double between(double low, double high)
{
	double mean = high;

	for (unsigned int i = 0; i < 20; i++)
		mean = (mean + low * high / mean) / 2;
	return mean;
}

int bench_rates(struct xen *xen, const struct xen_domain *domain, uint64_t ms,
		const char *text, struct error *err)
{
	struct current *current = current_new(xen, domain, err);
	struct first *first = current ? first_new(xen, domain, text, err) : NULL;
	const struct way ways[2] = {{current, NULL}, {current, first}};
	double low[2] = {LOWEST, LOWEST}, high[2] = {HIGHEST, HIGHEST};
	int status = first ? 0 : -1;

	/* In turns, as what disturbs the machine shall disturb both. */
	for (unsigned int i = 0; i < 2 * STEPS && status >= 0; i++) {
		double middle = between(low[i % 2], high[i % 2]);

		status = holds(&ways[i % 2], (uint64_t)middle, ms, err);
		if (status > 0)
			low[i % 2] = middle;
		else
			high[i % 2] = middle;
	}
	if (status >= 0)
		printf("rate %.0f %.0f\n", low[0], low[1]);
	first_free(first);
	current_free(current);
	return status < 0 ? -1 : 0;
}
