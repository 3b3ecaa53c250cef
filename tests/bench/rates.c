/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "record/domains/pacer.h"
#include "record/safety/priority.h"
#include "tests/bench/bench.h"
#include "tests/bench/ways.h"

/* Steps of bisection, by ratio, between a rate assumed sustainable and one that is not.
 */
#define LOWEST	20.0
#define HIGHEST 50000.0
#define STEPS	9

/* The cost of a sample is measured at this rate, Hz, this many times in each way. */
#define COST_RATE  1000
#define COST_TURNS 4

/* If the host stops an emulator for a moment, deadlines are missed at any rate. */
#define MAY_MISS 20 /* a rate is sustained if no more than 1 in 20 is missed */

struct way {
	struct current *current;
	struct first *first; /* NULL: the current way is measured */
	uint64_t slots, missed, rounds;
	uint64_t cpu_time; /* of all threads, ns */
};

static int take_sample(const struct way *way, uint64_t *paused, struct error *err)
{
	struct round round;

	*paused = 0;
	if (way->first) {
		*paused = first_sample(way->first, NULL);
		return 0;
	}
	if (current_sample(way->current, &round, NULL, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round.pauses; i++)
		*paused += round.pause[i];
	return 0;
}

/* Samples at @rate Hz for @ms, as far as possible, and adds up the results. */
static int sample_at(struct way *way, uint64_t rate, uint64_t ms, struct error *err)
{
	const struct pace pace = {.frequency = rate, .max_overhead = 1};
	uint64_t start = clock_monotonic(), rested = start;
	uint64_t used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	struct share share = {0};
	struct pacer pacer;

	pacer_start(&pacer, &pace, start, 1);
	share_rest_of(&share, start, used);
	while (pacer_due(&pacer) < start + ms * (NS_PER_S / 1000)) {
		uint64_t due = pacer_due(&pacer) > rested ? pacer_due(&pacer) : rested;
		uint64_t missed, paused;
		const struct timespec until = {(time_t)(due / NS_PER_S),
					       (long)(due % NS_PER_S)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		pacer_begin(&pacer, clock_monotonic(), &missed);
		if (take_sample(way, &paused, err) < 0)
			return -1;
		pacer_end(&pacer, paused);
		/* Like `uniprof record`; the first uniprof did not do this. */
		if (!way->first)
			rested = share_rest(&share, clock_monotonic());
		way->missed += missed;
		way->rounds++;
	}
	way->slots += rate * ms / 1000;
	way->cpu_time += clock_ns(CLOCK_PROCESS_CPUTIME_ID) - used;
	return 0;
}

/* Returns 1 if the way sustains @rate, 0 if it does not, -1 with @err set on failure. */
static int way_sustains(struct way *way, uint64_t rate, uint64_t ms, struct error *err)
{
	way->slots = way->missed = 0;
	if (sample_at(way, rate, ms, err) < 0)
		return -1;
	return way->missed * MAY_MISS <= way->slots;
}

/* Prints the cost of a sample in each way: CPU time, ns, and deadlines missed per 1000.
 */
static int print_costs(struct way *ways, uint64_t ms, struct error *err)
{
	for (unsigned int i = 0; i < 2; i++)
		ways[i] = (struct way){ways[i].current, ways[i].first, 0, 0, 0, 0};
	for (unsigned int i = 0; i < 2 * COST_TURNS; i++)
		if (sample_at(&ways[i % 2], COST_RATE, ms, err) < 0)
			return -1;
	printf("cost");
	for (unsigned int i = 0; i < 2; i++)
		printf(" %" PRIu64 " %" PRIu64, ways[i].cpu_time / ways[i].rounds,
		       ways[i].missed * 1000 / ways[i].slots);
	printf("\n");
	return 0;
}

/* Computes the mean by Newton's method, from above. */
static double geometric_mean(double low, double high)
{
	double mean = high;

	for (unsigned int i = 0; i < 20; i++)
		mean = (mean + low * high / mean) / 2;
	return mean;
}

int bench_rates(struct host *host, const struct guest_info *domain, uint64_t ms,
		const char *text, struct error *err)
{
	struct current *current = current_new(host, domain, NULL, err);
	struct first *first = current ? first_new(host, domain, text, err) : NULL;
	struct way ways[2] = {{.current = current}, {.current = current, .first = first}};
	double low[2] = {LOWEST, LOWEST}, high[2] = {HIGHEST, HIGHEST};
	int status = first ? 0 : -1;

	/* Alternating, so that disturbances on the machine affect both. */
	for (unsigned int i = 0; i < 2 * STEPS && status >= 0; i++) {
		double middle = geometric_mean(low[i % 2], high[i % 2]);

		status = way_sustains(&ways[i % 2], (uint64_t)middle, ms, err);
		if (status > 0)
			low[i % 2] = middle;
		else
			high[i % 2] = middle;
	}
	if (status >= 0)
		printf("rate %.0f %.0f\n", low[0], low[1]);
	if (status >= 0)
		status = print_costs(ways, ms, err);
	first_free(first);
	current_free(current);
	return status < 0 ? -1 : 0;
}
