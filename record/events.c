/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/clock.h"
#include "record/sampler_parts.h"
#include "unwind/unwind.h"

/* For how long what was read of the guest's memory serves for further events, ns: these
 * are older. */
#define BATCH_NS (5 * NS_PER_S / 1000)

/* Takes the stack of the sample with this number, as it was at the event; false if it
 * must be unwound now. */
static bool take_stack(struct sampler *sampler, const struct cpu *cpu,
		       const struct unwind_stack *stack, unsigned int number)
{
	if (!sampler->sampling.stack_bytes)
		return false;
	stack_take(cpu, stack, sampler->sampling.stack_bytes, &sampler->stack[number]);
	return sampler->stack[number].is_taken;
}

/* Takes the next event of each vCPU that has one. */
static bool take_events(struct sampler *sampler, struct round *round)
{
	struct guest *guest = sampler->guest;
	bool any = false;

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct guest_vcpu *vcpu = &guest->vcpu[i];

		vcpu->captured = false;
		if (!vcpu->wanted ||
		    !guest->ops->next_event(guest, i, &sampler->event[i]))
			continue;
		any = true;
		round->lost += sampler->event[i].lost;
		vcpu->cpu_time = sampler->event[i].cpu_time;
	}
	return any;
}

/* Events before sampling began, or while the recorder was stopped, are of no sample. */
static void skip_events(struct sampler *sampler, struct round *round)
{
	while (take_events(sampler, round))
		;
	round->lost = 0;
}

/* Returns what a sample at the event stands for. */
static uint32_t weight_of(const struct sampler *sampler, const struct guest_event *event)
{
	if (!sampler->sampling.counts_events || !event->counted)
		return 1;
	return event->counted < RECORDING_MAX_WEIGHT ? (uint32_t)event->counted
						     : RECORDING_MAX_WEIGHT;
}

/* Finds the chain of a vCPU at its event. False if a pause has to find it. */
static bool walk_event(struct sampler *sampler, struct round *round, unsigned int i)
{
	struct guest *guest = sampler->guest;
	const struct guest_event *event = &sampler->event[i];
	const struct unwind_stack stack = {event->start, event->word, event->count};
	struct unwind_input input = learning_input(&sampler->learning,
						   guest->ops->map_page);
	struct sample *sample = sampler_add(sampler, round, i,
					    event->time - event->time % NS_PER_US,
					    weight_of(sampler, event));
	bool is_cut, grows;

	sample->state = VCPU_RUNNING;
	if (take_stack(sampler, &guest->vcpu[i].cpu, &stack, round->samples - 1))
		return true;
	input.stack = &stack;
	cpu_unwind(&guest->vcpu[i].cpu, &input, &sample->chain);
	is_cut = sample->chain.end == CHAIN_NOT_CAPTURED ||
		 sample->chain.end == CHAIN_NO_PAGE;
	grows = sample->chain.end == CHAIN_NOT_CAPTURED && guest->ops->copy_more(guest);
	if (sampler->sampling.no_stop == NO_STOP_ONLY)
		return true;
	if (!trust_count(&sampler->trust, is_cut && !grows)) {
		error_set(&guest->no_events, "too many of its chains were cut");
		guest->ops->end_events(guest);
	}
	return !is_cut;
}

static void walk_events(struct sampler *sampler, struct round *round)
{
	struct guest *guest = sampler->guest;

	code_notes_renew(&sampler->learning.notes);
	round->samples = 0;
	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		if (guest->vcpu[i].captured && !walk_event(sampler, round, i))
			round->samples--;
}

/* Notes the vCPUs whose chains are missing: a pause has to find them. */
static void note_due(struct sampler *sampler, const struct round *round)
{
	const struct guest *guest = sampler->guest;

	for (unsigned int i = 0; i < guest->info.vcpus; i++)
		sampler->tally[i].due += guest->vcpu[i].captured;
	for (unsigned int i = 0; i < round->samples; i++)
		sampler->tally[round->sample[i].vcpu].due--;
}

/* Samples the vCPUs that wait, each with the weight of the time that it has waited. */
static void take_waiting(struct sampler *sampler, struct round *round)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input input = learning_input(&sampler->learning,
							 guest->ops->map_page);

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		struct tally *tally = &sampler->tally[i];
		struct sample *sample;

		guest->vcpu[i].captured = false;
		if (tally->idle < sampler->sampling.period || !guest->vcpu[i].wanted ||
		    !guest->ops->peek(guest, i))
			continue;
		guest->vcpu[i].cpu_time = tally->ran;
		sample = sampler_add(sampler, round, i, round->time, 1);
		if (!sampler_capture(sampler, &guest->vcpu[i].cpu, &input.memory,
				     round->samples - 1))
			cpu_unwind(&guest->vcpu[i].cpu, &input, &sample->chain);
		if (guest->ops->has_waited(guest, i))
			sample->weight = tally_take_idle(tally, sampler->sampling.period);
		else
			round->samples--;
	}
}

/* Takes the chains that are due in a pause, which samples all vCPUs, and keeps only
 * those. */
static int take_due(struct sampler *sampler, struct round *round, struct error *err)
{
	unsigned int kept = 0;

	if (sampler_pause(sampler, round, err) < 0)
		return -1;
	for (unsigned int i = 0; i < round->samples; i++) {
		struct tally *tally = &sampler->tally[sampler->sample[i].vcpu];

		if (!tally->due)
			continue;
		sampler->sample[kept] = sampler->sample[i];
		sampler->sample[kept++].weight = tally->due;
		tally->due = 0;
	}
	round->samples = kept;
	return 0;
}

static bool any_due(const struct sampler *sampler)
{
	for (unsigned int i = 0; i < sampler->guest->info.vcpus; i++)
		if (sampler->tally[i].due)
			return true;
	return false;
}

/* Finds the chains of the events that were taken. */
static void find_chains(struct sampler *sampler, struct round *round)
{
	if (round->time - sampler->batch > BATCH_NS)
		sampler->batch = round->time;
	round->time = sampler->batch;
	sampler_begin_pages(sampler, round->time);
	walk_events(sampler, round);
	if (learning_check_table(&sampler->learning, round))
		walk_events(sampler, round);
	note_due(sampler, round);
}

/* Begins the rounds of a guest with events: those that are due now. */
static int begin_events(struct sampler *sampler, struct round *round, struct error *err)
{
	struct guest *guest = sampler->guest;

	if (!sampler->has_begun)
		skip_events(sampler, round);
	sampler->has_begun = true;
	if (sampler_observe(sampler, round, err) < 0)
		return -1;
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &guest->vcpu[i];

		if (vcpu->online)
			tally_observe(&sampler->tally[i], round->time, vcpu->cpu_time,
				      vcpu->waited);
	}
	sampler->stage = ROUND_EVENTS;
	return 0;
}

int sampler_take_events(struct sampler *sampler, struct round *round, struct error *err)
{
	round->outcome = ROUND_TAKEN;
	if (sampler->stage == ROUND_BEGINS && begin_events(sampler, round, err) < 0)
		return -1;
	if (round->outcome != ROUND_TAKEN) {
		sampler->stage = ROUND_BEGINS;
	} else if (sampler->stage == ROUND_PAUSE) {
		sampler->stage = ROUND_BEGINS;
		if (take_due(sampler, round, err) < 0)
			return -1;
	} else if (take_events(sampler, round)) {
		find_chains(sampler, round);
		round->has_more = true;
	} else {
		sampler_begin_pages(sampler, round->time);
		if (!sampler->sampling.counts_events)
			take_waiting(sampler, round);
		round->has_more = any_due(sampler);
		sampler->stage = round->has_more ? ROUND_PAUSE : ROUND_BEGINS;
	}
	return 0;
}
