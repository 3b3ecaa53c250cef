/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/held.h"

#include <stdlib.h>

#include "base/array.h"

struct held_sample {
	uint64_t time, period;
	uint32_t node; /* node of the chain's innermost frame */
	uint16_t domain, vcpu;
	uint8_t end; /* enum chain_end */
};

int held_init(struct held *held)
{
	*held = (struct held){.least = UINT64_MAX};
	return tree_init(&held->chains, 1);
}

void held_free(struct held *held)
{
	tree_free(&held->chains);
	free(held->samples);
	*held = (struct held){0};
}

static int make_room(struct held *held)
{
	size_t capacity = held->capacity ? held->capacity * 2 : 1024;

	if (held->count < held->capacity)
		return 0;
	if (!array_grow(&held->samples, capacity, sizeof(*held->samples)))
		return -1;
	held->capacity = capacity;
	return 0;
}

int held_add(struct held *held, const struct sample *sample, uint64_t period)
{
	const struct chain *chain = &sample->chain;
	uint32_t node = 0;

	for (uint32_t i = chain->count; i-- > 0;) {
		node = tree_intern(&held->chains, node, chain->address[i]);
		if (node == TREE_NONE)
			return -1;
	}
	if (make_room(held) < 0)
		return -1;
	/* perf counts an unknown period as 1, too. */
	held->lacks_periods |= !period;
	period += !period;
	if (period < held->least)
		held->least = period;
	if (period > held->most)
		held->most = period;
	held->sum += (double)period;
	held->samples[held->count++] = (struct held_sample){
		.time = sample->time,
		.period = period,
		.node = node,
		.domain = (uint16_t)sample->domain,
		.vcpu = (uint16_t)sample->vcpu,
		.end = (uint8_t)chain->end,
	};
	return 0;
}

/* Chooses how samples are weighted. Periods are scaled down if their sum is too large for
 * weights. */
static struct import_weights choose_weights(const struct held *held)
{
	/* Weights of CPU time are in us, as in reports. */
	struct import_weights weights = {
		.by_period = held->least < held->most,
		.periods = held->unit,
		.unit = held->unit == IMPORT_CPU_NS ? 1000 : 1,
	};

	while (held->sum / (double)weights.unit > (double)HELD_MAX_WEIGHT)
		weights.unit *= 10;
	return weights;
}

int held_write_sample(struct writer *writer, struct sample *sample, uint64_t weight,
		      struct error *err)
{
	while (weight) {
		sample->weight = weight < RECORDING_MAX_WEIGHT ? (uint32_t)weight
							       : RECORDING_MAX_WEIGHT;
		if (writer_sample(writer, sample, err) < 0)
			return -1;
		weight -= sample->weight;
		sample->cpu_time = 0;
	}
	return 0;
}

int held_write(struct held *held, struct writer *writer, struct import_weights *weights,
	       struct error *err)
{
	uint64_t chain[RECORDING_MAX_DEPTH], left = 0;

	*weights = choose_weights(held);
	for (size_t i = 0; i < held->count; i++) {
		const struct held_sample *from = &held->samples[i];
		const struct tree_node *nodes = held->chains.nodes;
		struct sample sample = {
			.time = from->time,
			.domain = from->domain,
			.vcpu = from->vcpu,
			.cpu_time = from->period,
			.has_cpu_time = held->unit == IMPORT_CPU_NS &&
					!held->lacks_periods,
			.chain = {.address = chain, .end = from->end},
		};
		uint64_t weight = 1;

		for (uint32_t node = from->node; node; node = nodes[node].parent)
			chain[sample.chain.count++] = nodes[node].key;
		if (!sample.has_cpu_time)
			sample.cpu_time = 0;
		if (weights->by_period) {
			/* The remainder is added to the next sample. */
			weight = (left + from->period) / weights->unit;
			left = weight ? (left + from->period) % weights->unit : 0;
			weight += !weight;
		}
		if (held_write_sample(writer, &sample, weight, err) < 0)
			return -1;
	}
	return 0;
}
