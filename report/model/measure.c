/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/measure.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/model/domains.h"

int measure_init(struct measure *measure, enum measure_weight weight,
		 enum measure_states states, const char *list)
{
	*measure = (struct measure){
		.weight = weight, .states = states, .list = list, .to = UINT64_MAX};
	return tree_init(&measure->vcpu_index, 1);
}

void measure_free(struct measure *measure)
{
	free(measure->counts);
	free(measure->chosen);
	free(measure->times);
	free(measure->met);
	tree_free(&measure->vcpu_index);
	*measure = (struct measure){0};
}

/* Returns the vCPU, created if needed; NULL if out of memory. */
static struct measure_vcpu *find_vcpu(struct measure *measure, uint32_t domain,
				      uint32_t vcpu)
{
	uint64_t key = (uint64_t)domain << 32 | vcpu;
	uint32_t node = tree_intern(&measure->vcpu_index, 0, key);

	if (node == TREE_NONE)
		return NULL;
	if (node >= measure->vcpu_capacity) {
		uint32_t old = measure->vcpu_capacity;
		uint32_t capacity = measure->vcpu_index.capacity;
		struct measure_vcpu *grown = realloc(measure->met,
						     capacity * sizeof(*grown));

		if (!grown)
			return NULL;
		memset(grown + old, 0, (capacity - old) * sizeof(*grown));
		measure->met = grown;
		measure->vcpu_capacity = capacity;
	}
	return &measure->met[node];
}

/*
 * Returns the time since the vCPU's last sample, in us. Both times are rounded down
 * before they are subtracted, so that the sum over many samples is off by less than 1 us.
 */
static uint64_t elapsed_us(const struct measure_vcpu *vcpu, uint64_t time)
{
	uint64_t last = vcpu->is_met ? vcpu->last : time;

	return time > last ? time / 1000 - last / 1000 : 0;
}

static uint64_t used_us(struct measure_vcpu *vcpu, uint64_t cpu_time, uint32_t state)
{
	uint64_t us = vcpu->left + cpu_time / 1000;

	vcpu->left = state == VCPU_BLOCKED ? us : 0;
	return state == VCPU_BLOCKED ? 0 : us;
}

/* Sets *@count to the weight that the sample has if it counts; -1 if out of memory. */
static int weigh_sample(struct measure *measure, const struct samples_batch *batch,
			size_t i, bool is_chosen, uint64_t *count)
{
	struct measure_times times;
	struct measure_vcpu *vcpu;

	*count = batch->weight[i];
	if (measure->weight == MEASURE_SAMPLES && !measure->keeps_times)
		return 0;
	vcpu = find_vcpu(measure, batch->domain[i], batch->vcpu[i]);
	if (!vcpu)
		return -1;
	times.wall = elapsed_us(vcpu, batch->time[i]);
	times.cpu_time = used_us(vcpu, batch->cpu_time[i], batch->state[i]);
	if (measure->keeps_times)
		measure->times[i] = times;
	if (measure->weight == MEASURE_WALL)
		*count = times.wall;
	else if (measure->weight == MEASURE_CPU_TIME)
		*count = times.cpu_time;
	vcpu->is_met = true;
	vcpu->is_chosen = is_chosen;
	vcpu->last = batch->time[i];
	return 0;
}

/* Whether the sample is selected, apart from its state. */
static bool is_chosen(const struct measure *measure, const struct summary *summary,
		      const struct samples_batch *batch, size_t i)
{
	if (measure->vcpus && !measure->vcpus[batch->vcpu[i]])
		return false;
	if (batch->time[i] < measure->from)
		return false;
	if (batch->time[i] >= measure->to && measure->to != UINT64_MAX)
		return false;
	return !measure->list ||
	       domain_in_list(summary_domain(summary, batch->domain[i]), measure->list);
}

static bool has_state(const struct measure *measure, const struct samples_batch *batch,
		      size_t i)
{
	uint32_t state = batch->state[i];

	/* Without a reason, it depends on the function: filter_exits(). */
	if (measure->states == MEASURE_EXIT)
		return true;
	if (state >= SUMMARY_STATES)
		state = VCPU_UNKNOWN;
	return (unsigned int)measure->states & 1u << state;
}

/* Whether the sampled address is in the selected part; without an address, in none. */
static bool has_part(const struct measure *measure, const struct summary *summary,
		     const struct samples_batch *batch, size_t i)
{
	uint32_t node = batch->stack[i];

	if (measure->part == MEASURE_ALL_PARTS)
		return true;
	return node >= SAMPLES_ROOTS &&
	       domain_is_upper(summary_domain(summary, batch->domain[i]),
			       batch->address[node]) == (measure->part == MEASURE_KERNEL);
}

/* Whether all samples of a chunk are selected with their own weight. */
static bool takes_all(const struct measure *measure)
{
	return measure->weight == MEASURE_SAMPLES && !measure->keeps_times &&
	       measure->states == MEASURE_ALL_STATES &&
	       measure->part == MEASURE_ALL_PARTS && !measure->list && !measure->vcpus &&
	       !measure->from && measure->to == UINT64_MAX &&
	       measure->whole < MEASURE_MOST - (uint64_t)RECORDING_MAX_SAMPLES *
						       RECORDING_MAX_WEIGHT;
}

static int make_room(struct measure *measure, size_t count)
{
	uint64_t *counts = realloc(measure->counts, count * sizeof(*counts));
	bool *chosen;

	if (!counts)
		return -1;
	measure->counts = counts;
	chosen = realloc(measure->chosen, count * sizeof(*chosen));
	if (!chosen)
		return -1;
	measure->chosen = chosen;
	if (measure->keeps_times &&
	    !array_grow(&measure->times, count, sizeof(*measure->times)))
		return -1;
	measure->capacity = count;
	return 0;
}

uint64_t measure_add(struct measure *measure, uint64_t count)
{
	if (count > MEASURE_MOST - measure->whole)
		count = MEASURE_MOST - measure->whole;
	measure->whole += count;
	measure->total += count;
	measure->squares += (double)count * (double)count;
	return count;
}

int measure_batch(struct measure *measure, const struct summary *summary,
		  const struct samples_batch *batch)
{
	uint64_t sum = 0;

	measure->event = summary->info.event;
	if (batch->count > measure->capacity && make_room(measure, batch->count) < 0)
		return -1;
	if (takes_all(measure)) {
		for (size_t i = 0; i < batch->count; i++) {
			measure->chosen[i] = true;
			measure->counts[i] = batch->weight[i];
			sum += batch->weight[i];
			measure->squares += (double)batch->weight[i] * batch->weight[i];
		}
		measure->whole += sum;
		measure->total += sum;
		return 0;
	}
	for (size_t i = 0; i < batch->count; i++) {
		bool chosen = is_chosen(measure, summary, batch, i);
		uint64_t count;

		/* A sample that is not selected also ends the time counted for the next
		 * one. */
		if (weigh_sample(measure, batch, i, chosen, &count) < 0)
			return -1;
		if (!chosen || !has_state(measure, batch, i) ||
		    !has_part(measure, summary, batch, i))
			count = 0;
		measure->counts[i] = measure_add(measure, count);
		measure->chosen[i] = chosen;
	}
	return 0;
}

void measure_clip(const struct measure *measure, uint64_t *from, uint64_t *to)
{
	if (*from < measure->since)
		*from = measure->since;
	if (*from < measure->from)
		*from = measure->from;
	if (*to > measure->to)
		*to = measure->to;
}

uint64_t measure_wait(const struct measure *measure, uint64_t from, uint64_t to)
{
	if (to - from < measure->min_wait)
		return 0;
	measure_clip(measure, &from, &to);
	return to > from ? to / 1000 - from / 1000 : 0;
}

static bool waits_for_chosen(const struct measure *measure, const struct summary *summary,
			     const struct samples_batch *batch, size_t i)
{
	if (measure->no_idle && batch->state[i] == WAIT_IDLE)
		return false;
	if (!has_part(measure, summary, batch, i))
		return false;
	return !measure->list ||
	       domain_in_list(summary_domain(summary, batch->domain[i]), measure->list);
}

int measure_waits(struct measure *measure, const struct summary *summary,
		  const struct waits_batch *batch)
{
	const struct samples_batch *samples = &batch->samples;

	if (samples->count > measure->capacity && make_room(measure, samples->count) < 0)
		return -1;
	for (size_t i = 0; i < samples->count; i++) {
		uint64_t length = measure_wait(measure, samples->time[i], batch->to[i]);

		measure->chosen[i] = waits_for_chosen(measure, summary, samples, i);
		if (!batch->is_over[i])
			length = 1;
		measure->counts[i] = measure_add(measure,
						 measure->chosen[i] ? length : 0);
	}
	return 0;
}

void measure_remove(struct measure *measure, uint64_t count, bool is_dropped)
{
	measure->whole -= count;
	measure->total -= is_dropped ? 0 : count;
	measure->squares -= (double)count * (double)count;
}

void measure_drop(struct measure *measure, size_t sample)
{
	measure->total -= measure->counts[sample];
	measure->counts[sample] = 0;
}

void measure_take_back(struct measure *measure, size_t sample)
{
	double count = (double)measure->counts[sample];

	measure->whole -= measure->counts[sample];
	measure->squares -= count * count;
	measure_drop(measure, sample);
}

uint64_t measure_left(const struct measure *measure)
{
	uint64_t sum = 0;

	if (measure->weight != MEASURE_CPU_TIME)
		return 0;
	for (uint32_t i = 1; i < measure->vcpu_index.count; i++)
		if (measure->met[i].is_chosen)
			sum += measure->met[i].left;
	return sum;
}

bool measure_is_time(const struct measure *measure)
{
	return measure->weight != MEASURE_SAMPLES;
}

bool measure_is_event(const struct measure *measure)
{
	return measure->weight == MEASURE_SAMPLES && measure->event && *measure->event;
}

const char *measure_noun(const struct measure *measure)
{
	static const char *const nouns[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "CPU time",
		[MEASURE_WALL] = "time",
		[MEASURE_WAIT] = "waiting time",
	};

	return measure_is_event(measure) ? measure->event : nouns[measure->weight];
}

const char *measure_long_noun(const struct measure *measure)
{
	return measure->weight == MEASURE_WALL ? "vCPU time" : measure_noun(measure);
}

const char *measure_name(const struct measure *measure)
{
	static const char *const names[] = {
		[MEASURE_SAMPLES] = "samples",
		[MEASURE_CPU_TIME] = "cpu_time_us",
		[MEASURE_WALL] = "wall_us",
		[MEASURE_WAIT] = "wait_us",
	};

	return measure_is_event(measure) ? "events" : names[measure->weight];
}

const char *measure_states_note(const struct measure *measure)
{
	switch (measure->states) {
	case MEASURE_RUNNING:
		return " while running";
	case MEASURE_BUSY:
		return " while running or runnable";
	case MEASURE_RUNNABLE:
		return " while runnable";
	case MEASURE_BLOCKED:
		return " while blocked";
	case MEASURE_EXIT:
		return " while not in the guest's code";
	default:
		return "";
	}
}
