/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "record/sampler_parts.h"
#include "unwind/unwind.h"

/* Limit of the guest's code that is read for a chain during a pause, halfwords */
#define PAUSE_CODE_BUDGET 4096

/*
 * A rehearsal costs as much CPU time as the walk itself. After CALM_ROUNDS rounds in
 * which one try sufficed, a rehearsal is left out if the last one was less than
 * REHEARSAL_LASTS (ns) ago: caches and TLB still hold most of the data.
 */
#define CALM_ROUNDS	16
#define REHEARSAL_LASTS (2 * NS_PER_S / 1000)

int sampler_observe(struct sampler *sampler, struct round *round, struct error *err)
{
	static const enum round_outcome outcomes[] = {
		[OBSERVED_RUNNING] = ROUND_TAKEN, [OBSERVED_PAUSED] = ROUND_PAUSED,
		[OBSERVED_GREW] = ROUND_TAKEN,	  [OBSERVED_SHUT] = ROUND_SHUT,
		[OBSERVED_GONE] = ROUND_GONE,
	};
	struct guest *guest = sampler->guest;
	enum observation observation;

	if (guest->ops->observe(guest, round->time, &observation, err) < 0)
		return -1;
	round->outcome = outcomes[observation];
	return 0;
}

struct sample *sampler_add(struct sampler *sampler, struct round *round, unsigned int i,
			   uint64_t time, uint32_t weight)
{
	const struct guest_vcpu *vcpu = &sampler->guest->vcpu[i];
	struct sample *sample = &sampler->sample[round->samples];

	sample->time = time;
	sample->domain = sampler->sampling.index;
	sample->vcpu = i;
	sample->weight = weight;
	sample->state = (uint8_t)vcpu->state;
	sample->exit = vcpu->exit;
	sample->chain.address = sampler->address + round->samples++ * sampler->room;
	return sample;
}

bool sampler_capture(struct sampler *sampler, const struct cpu *cpu,
		     const struct guest_memory *memory, unsigned int number)
{
	if (!sampler->sampling.stack_bytes)
		return false;
	stack_copy(cpu, memory, sampler->sampling.stack_bytes, &sampler->stack[number]);
	return sampler->stack[number].is_taken;
}

/* Makes a sample of each vCPU whose registers were captured. */
static void walk_vcpus(struct sampler *sampler, const struct unwind_input *input,
		       struct round *round)
{
	const struct guest *guest = sampler->guest;

	round->samples = 0;
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &guest->vcpu[i];
		struct sample *sample;
		uint64_t misses;

		if (!vcpu->captured)
			continue;
		sample = sampler_add(sampler, round, i, round->time, sampler->weight);
		if (sampler_capture(sampler, &vcpu->cpu, &input->memory,
				    round->samples - 1))
			continue;
		misses = guest->ops->page_misses(guest->memory);
		cpu_unwind(&vcpu->cpu, input, &sample->chain);
		if (sample->chain.end == CHAIN_NO_PAGE &&
		    guest->ops->page_misses(guest->memory) != misses)
			sample->chain.end = CHAIN_NOT_READY;
	}
}

void sampler_rehearse(struct sampler *sampler, struct round *round)
{
	const struct unwind_input running = learning_input(&sampler->learning,
							   sampler->guest->ops->map_page);

	code_notes_renew(running.notes);
	walk_vcpus(sampler, &running, round);
}

static bool is_rehearsed(const struct sampler *sampler, const struct round *round)
{
	return sampler->calm >= CALM_ROUNDS && sampler->guest->ops->are_pages_live &&
	       round->time - sampler->rehearsed < REHEARSAL_LASTS;
}

/* Takes the samples in one pause, unless it is needless: 0, an enum pause_outcome, or -1.
 */
static int take_in_pause(struct sampler *sampler, struct round *round, struct error *err)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input mapped = learning_input(&sampler->learning,
							  guest->ops->get_page);
	uint64_t start, length;
	int status;

	guest->ops->prepare(guest);
	mapped.notes->budget = PAUSE_CODE_BUDGET;
	start = clock_monotonic();
	status = guest->ops->pause(guest, err);
	if (status && status != PAUSE_NEEDLESS)
		return status;
	round->time = start - start % NS_PER_US;
	walk_vcpus(sampler, &mapped, round);
	if (status == PAUSE_NEEDLESS)
		return 0;
	status = guest->ops->resume(guest, err);
	length = clock_monotonic() - start;
	if (status == 0) {
		uint64_t excess = guest->ops->finish(guest);

		length -= excess < length ? excess : length;
	}
	round->pause[round->pauses++] = length;
	return status;
}

int sampler_pause(struct sampler *sampler, struct round *round, struct error *err)
{
	static const enum round_outcome outcomes[] = {
		[PAUSE_GONE] = ROUND_GONE,
		[PAUSE_HELD] = ROUND_PAUSED,
		[PAUSE_LATE] = ROUND_LATE,
	};
	struct guest *guest = sampler->guest;

	while (round->outcome == ROUND_TAKEN && sampler->tries < ROUND_PAUSES) {
		bool missed, learned;
		int status;

		if (sampler->tries++ || !is_rehearsed(sampler, round)) {
			struct round discarded = {0};

			sampler_rehearse(sampler, &discarded);
			sampler->rehearsed = round->time;
		}
		status = take_in_pause(sampler, round, err);
		if (status < 0)
			return -1;
		if (status > 0)
			round->outcome = outcomes[status];
		missed = guest->ops->pages_missed(guest->memory);
		learned = guest->ops->learn_modes(guest);
		if (!missed && !learned)
			break;
	}
	sampler->calm = sampler->tries == 1 ? sampler->calm + 1 : 0;
	return 0;
}
