/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/measure.h"

#include <stdlib.h>

#include "report/domains.h"

int measure_init(struct measure *measure, enum measure_weight weight,
		 enum measure_states states, const char *list)
{
	*measure = (struct measure){.weight = weight, .states = states, .list = list};
	return tree_init(&measure->vcpus, 1);
}

void measure_free(struct measure *measure)
{
	free(measure->counts);
	free(measure->last);
	tree_free(&measure->vcpus);
	*measure = (struct measure){0};
}

/*
 * The time since the vCPU's last sample, in us. Both times are rounded down before
 * they are subtracted, so that the sum over many samples is off by less than 1 us.
 */
static int elapsed(struct measure *measure, const struct samples_batch *batch, size_t i,
		   uint64_t *us)
{
	uint64_t key = (uint64_t)batch->domain[i] << 32 | batch->vcpu[i];
	uint32_t node = tree_intern(&measure->vcpus, 0, key);
	uint64_t time = batch->time[i], last;

	if (node == TREE_NONE)
		return -1;
	if (measure->vcpus.count > measure->last_capacity) {
		uint32_t capacity = measure->vcpus.capacity;
		uint64_t *grown = realloc(measure->last, capacity * sizeof(*grown));

		if (!grown)
			return -1;
		measure->last = grown;
		measure->last_capacity = capacity;
	}
	last = node < measure->last_count ? measure->last[node] : time;
	*us = time > last ? time / 1000 - last / 1000 : 0;
	measure->last[node] = time;
	measure->last_count = measure->vcpus.count;
	return 0;
}

static bool is_wanted(const struct measure *measure, const struct summary *summary,
		      const struct samples_batch *batch, size_t i)
{
	uint32_t state = batch->state[i] < SUMMARY_STATES ? batch->state[i]
							  : VCPU_UNKNOWN;

	return ((unsigned int)measure->states & 1u << state) &&
	       (!measure->list ||
		domain_in_list(summary_domain(summary, batch->domain[i]), measure->list));
}

int measure_batch(struct measure *measure, const struct summary *summary,
		  const struct samples_batch *batch)
{
	if (batch->count > measure->capacity) {
		uint64_t *grown = realloc(measure->counts, batch->count * sizeof(*grown));

		if (!grown)
			return -1;
		measure->counts = grown;
		measure->capacity = batch->count;
	}
	for (size_t i = 0; i < batch->count; i++) {
		uint64_t count = batch->weight[i];

		/* Samples that are left out end the time before the next, too. */
		if (measure->weight == MEASURE_WALL &&
		    elapsed(measure, batch, i, &count) < 0)
			return -1;
		if (measure->weight == MEASURE_CPU_TIME)
			count = batch->cpu_time[i] / 1000;
		if (!is_wanted(measure, summary, batch, i))
			count = 0;
		if (count > MEASURE_MOST - measure->total)
			count = MEASURE_MOST - measure->total;
		measure->counts[i] = count;
		measure->total += count;
	}
	return 0;
}

bool measure_is_time(const struct measure *measure)
{
	return measure->weight != MEASURE_SAMPLES;
}

const char *measure_noun(const struct measure *measure)
{
	static const char *const nouns[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "CPU time",
		[MEASURE_WALL] = "time",
	};

	return nouns[measure->weight];
}

const char *measure_name(const struct measure *measure)
{
	static const char *const names[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "cpu_time_us",
		[MEASURE_WALL] = "wall_us",
	};

	return names[measure->weight];
}

const char *measure_states_note(const struct measure *measure)
{
	switch (measure->states) {
	case MEASURE_RUNNING:
		return " while running or runnable";
	case MEASURE_RUNNABLE:
		return " while runnable";
	case MEASURE_BLOCKED:
		return " while blocked";
	default:
		return "";
	}
}
