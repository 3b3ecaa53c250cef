/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "record/domains/pacer.h"
#include "record/safety/priority.h"
#include "tests/bench/bench.h"
#include "tests/bench/ways.h"

/* How often each way takes samples without a wait */
#define RATE_TURNS 9

/* The cost of a sample is measured at this rate, Hz, this many times in each way. */
#define COST_RATE  1000
#define COST_TURNS 4

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

/* @time: ns, monotonic */
static void sleep_until(uint64_t time)
{
	const struct timespec until = {(time_t)(time / NS_PER_S),
				       (long)(time % NS_PER_S)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
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

		sleep_until(due);
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

/* Samples without a wait for @ms, but rests as `uniprof record` does; the first uniprof
 * did not. Sets @rate to the number of rounds per second. */
static int sample_freely(const struct way *way, uint64_t ms, uint64_t *rate,
			 struct error *err)
{
	uint64_t start = clock_monotonic(), now = start, rounds = 0;
	struct share share = {0};

	share_rest(&share, start);
	for (; now < start + ms * (NS_PER_S / 1000); now = clock_monotonic()) {
		uint64_t paused, rested;

		if (take_sample(way, &paused, err) < 0)
			return -1;
		rounds++;
		rested = way->first ? 0 : share_rest(&share, clock_monotonic());
		if (rested)
			sleep_until(rested);
	}
	*rate = rounds * NS_PER_S / (now - start);
	return 0;
}

static int compare_rates(const void *a, const void *b)
{
	uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;

	return one < other ? -1 : one > other;
}

/* Prints the median of the rates without a wait in each way, Hz. They alternate, so that
 * disturbances on the machine affect both. */
static int print_rates(const struct way *ways, uint64_t ms, struct error *err)
{
	uint64_t rate[2][RATE_TURNS];

	for (unsigned int i = 0; i < 2 * RATE_TURNS; i++)
		if (sample_freely(&ways[i % 2], ms, &rate[i % 2][i / 2], err) < 0)
			return -1;
	for (unsigned int i = 0; i < 2; i++)
		qsort(rate[i], RATE_TURNS, sizeof(rate[i][0]), compare_rates);
	printf("rate %" PRIu64 " %" PRIu64 "\n", rate[0][RATE_TURNS / 2],
	       rate[1][RATE_TURNS / 2]);
	return 0;
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

int bench_rates(struct host *host, const struct guest_info *domain, uint64_t ms,
		const char *text, struct error *err)
{
	struct current *current = current_new(host, domain, NULL, err);
	struct first *first = current ? first_new(host, domain, text, err) : NULL;
	struct way ways[2] = {{.current = current}, {.current = current, .first = first}};
	int status = first ? print_rates(ways, ms, err) : -1;

	if (status == 0)
		status = print_costs(ways, ms, err);
	first_free(first);
	current_free(current);
	return status;
}
