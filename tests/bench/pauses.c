/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "tests/bench/bench.h"
#include "tests/bench/ways.h"

/* Samples at the start that are not counted, unless the start is to be measured. */
#define WARM_UP 50

/* Time between two samples. */
#define GAP_NS 500000

struct ways {
	struct host *host;
	const struct guest_info *domain;
	const char *text;
	const struct program_table *table;
	struct floor *floor;
	struct current *current;
	struct first *first;
};

static void ways_free(struct ways *ways)
{
	floor_free(ways->floor);
	current_free(ways->current);
	first_free(ways->first);
}

/* Starts all ways anew. */
static int ways_start(struct ways *ways, struct error *err)
{
	ways_free(ways);
	ways->first = NULL;
	ways->floor = NULL;
	ways->current = current_new(ways->host, ways->domain, ways->table, err);
	if (!ways->current)
		return -1;
	ways->floor = floor_new(ways->host, ways->domain, err);
	ways->first = ways->floor ? first_new(ways->host, ways->domain, ways->text, err)
				  : NULL;
	return ways->first ? 0 : -1;
}

enum measured {
	FLOOR,
	PAUSE,	/* each pause of the current way */
	PAUSED, /* sum of the pauses of a sample */
	WHOLE,	/* the whole sample */
	FIRST,
	MEASURED
};

/*
 * Adds the longest span of each series since @from to @of_starts, and advances @from. The
 * longest spans of many starts are more meaningful than the longest span of all, which on
 * a busy host is caused by the host.
 */
static void keep_longest(const struct series *series, size_t *from,
			 struct series *of_starts)
{
	for (unsigned int what = 0; what < MEASURED; what++) {
		uint64_t longest = 0;

		for (; from[what] < series[what].count; from[what]++)
			if (longest < series[what].ns[from[what]])
				longest = series[what].ns[from[what]];
		series_add(&of_starts[what], longest);
	}
}

/* The deepest chain found by each way, addresses. */
struct depths {
	unsigned int current, first;
};

/*
 * Takes a sample in each way, after a look at the domain, as only the current way needs:
 * a way that starts right after sleeping would pay for filling the caches.
 */
static int take_turns(struct ways *ways, struct series *series, struct depths *depths,
		      struct error *err)
{
	const struct timespec gap = {0, GAP_NS};
	uint64_t whole, paused = 0;
	unsigned int depth = 0;
	struct round round;

	nanosleep(&gap, NULL);
	if (current_look(ways->current, NULL, err) < 0)
		return -1;
	series_add(&series[FLOOR], floor_sample(ways->floor));

	nanosleep(&gap, NULL);
	if (current_sample(ways->current, &round, &whole, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round.pauses; i++) {
		series_add(&series[PAUSE], round.pause[i]);
		paused += round.pause[i];
	}
	series_add(&series[PAUSED], paused);
	series_add(&series[WHOLE], whole);
	if (depths->current < round.sample[0].chain.count)
		depths->current = round.sample[0].chain.count;

	nanosleep(&gap, NULL);
	if (current_look(ways->current, NULL, err) < 0)
		return -1;
	series_add(&series[FIRST], first_sample(ways->first, &depth));
	if (depths->first < depth)
		depths->first = depth;
	return 0;
}

static int measure_ways(struct ways *ways, struct series *series,
			struct series *of_starts, size_t samples, size_t restart,
			struct error *err)
{
	size_t before = restart ? 0 : WARM_UP;
	size_t from[MEASURED] = {0};
	struct depths depths = {0};

	for (size_t i = 0; i < before + samples; i++) {
		if ((!i || (restart && i % restart == 0)) && ways_start(ways, err) < 0)
			return -1;
		if (i == before)
			for (unsigned int what = 0; what < MEASURED; what++)
				series[what].count = 0;
		if (take_turns(ways, series, &depths, err) < 0)
			return -1;
		if (restart && (i + 1) % restart == 0)
			keep_longest(series, from, of_starts);
	}
	for (unsigned int what = 0; what < MEASURED; what++) {
		series_print(&series[what]);
		if (of_starts[what].count)
			series_print(&of_starts[what]);
	}
	printf("depth %u %u\n", depths.current, depths.first);
	printf("vcpus %u\n", ways->domain->online);
	printf("maps-in-pause %" PRIu64 "\n", current_maps_in_pause());
	if (current_maps_in_pause())
		return error_set(err, "pages were mapped while the guest was paused");
	return 0;
}

int bench_pauses(struct host *host, const struct guest_info *domain, size_t samples,
		 size_t restart, const char *text, const struct program_table *table,
		 struct error *err)
{
	static const char *const names[MEASURED][2] = {{"floor", "floor-longest"},
						       {"pause", "pause-longest"},
						       {"paused", "paused-longest"},
						       {"whole", "whole-longest"},
						       {"first", "first-longest"}};
	struct ways ways = {.host = host, .domain = domain, .text = text, .table = table};
	struct series series[MEASURED] = {0}, of_starts[MEASURED] = {0};
	int status = 0;

	for (unsigned int i = 0; i < MEASURED && status == 0; i++) {
		status = series_new(&series[i], names[i][0],
				    (samples + WARM_UP) * ROUND_PAUSES, err);
		if (status == 0)
			status = series_new(&of_starts[i], names[i][1], samples, err);
	}
	if (status == 0)
		status = measure_ways(&ways, series, of_starts, samples, restart, err);
	ways_free(&ways);
	for (unsigned int i = 0; i < MEASURED; i++) {
		series_free(&series[i]);
		series_free(&of_starts[i]);
	}
	return status;
}
