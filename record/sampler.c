/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sampler.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"

/*
 * How many map calls a round may make, for a guest of so many vCPUs. A chain that is new
 * in all its parts takes about ten; a deep one whose pages lie far from each other takes
 * more, and has what is missing a round later.
 */
#define ROUND_MAPS(vcpus) (64 + 8 * (vcpus))

/* What may be looked at of a guest's code for a chain during a pause, in halfwords. */
#define PAUSE_CODE_BUDGET 4096

struct sampler {
	struct capture *capture;
	struct pages *pages;
	uint32_t index;
	struct sample *sample; /* one for each vCPU */
	uint32_t weight;       /* of the round's samples */
	uint64_t cpu_time_unit;
	uint64_t *ran;	   /* what each had run at its last sample, in such units, ns */
	uint64_t *address; /* CHAIN_MAX for each of them */
	struct code_notes notes;
};

struct sampler *sampler_new(struct capture *capture, struct pages *pages, uint32_t index,
			    uint64_t period, struct error *err)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	size_t vcpus = capture_vcpus(capture);
	size_t chains = vcpus * CHAIN_MAX * sizeof(*sampler->address);

	if (sampler) {
		sampler->capture = capture;
		sampler->pages = pages;
		sampler->index = index;
		sampler->cpu_time_unit = period / 10 ? period / 10 : 1;
		sampler->sample = calloc(vcpus, sizeof(*sampler->sample));
		sampler->ran = calloc(vcpus, sizeof(*sampler->ran));
		sampler->address = malloc(chains);
	}
	if (!sampler || !sampler->sample || !sampler->ran || !sampler->address) {
		sampler_free(sampler);
		error_set(err, "not enough memory");
		return NULL;
	}
	if (mlock(sampler->address, chains) < 0) {
		error_errno(err, errno, "can't lock memory");
		sampler_free(sampler);
		return NULL;
	}
	return sampler;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	free(sampler->sample);
	free(sampler->ran);
	free(sampler->address);
	free(sampler);
}

uint32_t sampler_index(const struct sampler *sampler)
{
	return sampler->index;
}

/* What the vCPU has run since its last sample. Rounded down is what it had run by
 * then, so that nothing is lost from sample to sample. */
static void take_cpu_time(struct sampler *sampler, const struct capture_vcpu *vcpu,
			  struct sample *sample)
{
	uint64_t *ran = &sampler->ran[sample->vcpu];
	uint64_t now = vcpu->cpu_time - vcpu->cpu_time % sampler->cpu_time_unit;

	sample->has_cpu_time = true;
	sample->cpu_time = *ran && now > *ran ? now - *ran : 0;
	if (now)
		*ran = now;
}

static void walk(struct sampler *sampler, const struct guest_memory *memory,
		 struct round *round)
{
	unsigned int vcpus = capture_vcpus(sampler->capture);

	round->samples = 0;
	for (unsigned int i = 0; i < vcpus; i++) {
		const struct capture_vcpu *vcpu = capture_vcpu(sampler->capture, i);
		struct sample *sample = &sampler->sample[round->samples];
		uint64_t misses;

		if (!vcpu->captured)
			continue;
		sample->time = round->time;
		sample->domain = sampler->index;
		sample->vcpu = i;
		sample->weight = sampler->weight;
		sample->state = (uint8_t)vcpu->state;
		sample->chain.address = sampler->address + round->samples * CHAIN_MAX;
		misses = pages_misses(sampler->pages);
		cpu_unwind(&vcpu->cpu, memory, &sample->chain);
		if (sample->chain.end == CHAIN_NO_PAGE &&
		    pages_misses(sampler->pages) != misses)
			sample->chain.end = CHAIN_NOT_READY;
		round->samples++;
	}
}

static void take_cpu_times(struct sampler *sampler, const struct round *round)
{
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];

		take_cpu_time(sampler, capture_vcpu(sampler->capture, sample->vcpu),
			      sample);
	}
}

static void forget_code(struct sampler *sampler)
{
	memset(&sampler->notes, 0, sizeof(sampler->notes));
	sampler->notes.budget = CODE_BUDGET_MAX;
}

/*
 * Walks where the last walks went: maps what they missed, notes what they find in code,
 * and brings into the caches and the TLB what the walks of the coming pause will most
 * likely need, too, the code that walks included. The guest runs, so it may be led
 * astray; then the coming attempt misses something again.
 */
static void rehearse(struct sampler *sampler)
{
	const struct guest_memory memory = {pages_map, sampler->pages, &sampler->notes};
	struct round nobody_sees = {0};

	forget_code(sampler);
	walk(sampler, &memory, &nobody_sees);
	sampler->notes.budget = PAUSE_CODE_BUDGET;
}

/* One pause; 1 when the domain is gone. */
static int attempt(struct sampler *sampler, struct round *round, struct error *err)
{
	const struct guest_memory mapped = {pages_get, sampler->pages, &sampler->notes};
	uint64_t start;
	int status;

	capture_prepare(sampler->capture);
	start = clock_monotonic();
	status = capture_pause(sampler->capture, err);
	if (status)
		return status;
	round->time = start - start % NS_PER_US;
	walk(sampler, &mapped, round);
	status = capture_resume(sampler->capture, err);
	round->pause[round->pauses++] = clock_monotonic() - start;
	return status;
}

static void begin(struct sampler *sampler, uint32_t weight, unsigned int map_calls,
		  struct round *round)
{
	sampler->weight = weight;
	round->time = clock_monotonic();
	round->pauses = 0;
	round->samples = 0;
	round->sample = sampler->sample;
	pages_begin(sampler->pages, round->time, map_calls);
}

int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err)
{
	static const enum round_outcome outcomes[] = {
		[OBSERVED_RUNNING] = ROUND_TAKEN,
		[OBSERVED_PAUSED] = ROUND_PAUSED,
		[OBSERVED_SHUT] = ROUND_SHUT,
		[OBSERVED_GONE] = ROUND_GONE,
	};
	enum observation observation;

	begin(sampler, weight, ROUND_MAPS(capture_vcpus(sampler->capture)), round);
	if (capture_observe(sampler->capture, &observation, err) < 0)
		return -1;
	round->outcome = outcomes[observation];
	while (round->outcome == ROUND_TAKEN && round->pauses < ROUND_PAUSES) {
		bool missed, learned;
		int status;

		rehearse(sampler);
		status = attempt(sampler, round, err);
		if (status < 0)
			return -1;
		if (status > 0)
			round->outcome = ROUND_GONE;
		missed = pages_missed(sampler->pages);
		learned = capture_learn_modes(sampler->capture);
		if (!missed && !learned)
			break;
	}
	take_cpu_times(sampler, round);
	return 0;
}

int sampler_look(struct sampler *sampler, struct round *round, struct error *err)
{
	const struct guest_memory memory = {pages_map, sampler->pages, &sampler->notes};
	enum observation observation;

	begin(sampler, 1, UINT_MAX, round);
	if (capture_observe(sampler->capture, &observation, err) < 0)
		return -1;
	round->outcome = observation == OBSERVED_GONE ? ROUND_GONE : ROUND_TAKEN;
	if (round->outcome == ROUND_GONE)
		return 0;
	do {
		if (capture_take(sampler->capture, err) < 0)
			return -1;
	} while (capture_learn_modes(sampler->capture));
	forget_code(sampler);
	walk(sampler, &memory, round);
	return 0;
}
