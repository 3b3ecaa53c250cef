/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sampler.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/sampler_parts.h"
#include "record/signals.h"

/*
 * Limit of map calls in a round, for a guest with this number of vCPUs, whose stacks are
 * captured in this number of pages. A chain of which every page is new takes about ten. A
 * deep chain with pages far from each other takes more, and is complete a round later.
 */
#define ROUND_MAPS(vcpus, pages) (64 + (8 + (pages)) * (vcpus))

static int lock_memory(const void *memory, size_t size, struct error *err)
{
	if (mlock(memory, size) == 0)
		return 0;
	return error_mlock(err, errno, size);
}

static int allocate_stacks(struct sampler *sampler, size_t vcpus, struct error *err)
{
	size_t words = STACK_WORDS(sampler->sampling.stack_bytes);

	sampler->word = calloc(vcpus * words, sizeof(*sampler->word));
	sampler->stack = calloc(vcpus, sizeof(*sampler->stack));
	if (!sampler->word || !sampler->stack)
		return error_set(err, "out of memory");
	for (size_t i = 0; i < vcpus; i++)
		sampler->stack[i].word = sampler->word + i * words;
	return lock_memory(sampler->word, vcpus * words * sizeof(*sampler->word), err);
}

static int allocate(struct sampler *sampler, struct error *err)
{
	size_t vcpus = sampler->guest->info.vcpus;
	size_t chains = vcpus * sampler->room * sizeof(*sampler->address);

	sampler->sample = calloc(vcpus, sizeof(*sampler->sample));
	sampler->programs = calloc(vcpus, sizeof(*sampler->programs));
	sampler->ran = calloc(vcpus, sizeof(*sampler->ran));
	sampler->address = calloc(1, chains);
	sampler->event = calloc(vcpus, sizeof(*sampler->event));
	sampler->tally = calloc(vcpus, sizeof(*sampler->tally));
	if (!sampler->sample || !sampler->programs || !sampler->ran ||
	    !sampler->address || !sampler->event || !sampler->tally)
		return error_set(err, "out of memory");
	if (lock_memory(sampler->address, chains, err) < 0)
		return -1;
	return sampler->sampling.stack_bytes ? allocate_stacks(sampler, vcpus, err) : 0;
}

struct sampler *sampler_new(struct guest *guest, const struct sampling *sampling,
			    struct error *err)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));

	if (!sampler) {
		error_set(err, "out of memory");
		return NULL;
	}
	sampler->guest = guest;
	sampler->sampling = *sampling;
	sampler->cpu_time_unit = sampling->period / 10 ? sampling->period / 10 : 1;
	sampler->room = sampling->stack_bytes ? STACK_CHAIN_MAX : CHAIN_ROOM;
	while (sampling->stack_bytes && guest->has_events && guest->ops->copy_more(guest))
		;
	if (learning_open(&sampler->learning, guest, sampling, err) < 0 ||
	    allocate(sampler, err) < 0) {
		sampler_free(sampler);
		return NULL;
	}
	return sampler;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	learning_close(&sampler->learning);
	free(sampler->event);
	free(sampler->tally);
	free(sampler->word);
	free(sampler->stack);
	free(sampler->sample);
	free(sampler->programs);
	free(sampler->ran);
	free(sampler->address);
	free(sampler);
}

const struct learning *sampler_learning(const struct sampler *sampler)
{
	return &sampler->learning;
}

struct learning *sampler_learner(struct sampler *sampler)
{
	return &sampler->learning;
}

struct kallsyms *sampler_take_kallsyms(struct sampler *sampler)
{
	return learning_take_kallsyms(&sampler->learning);
}

struct process_mappings *sampler_take_mappings(struct sampler *sampler)
{
	return learning_take_mappings(&sampler->learning);
}

void sampler_forget_mappings(struct sampler *sampler)
{
	learning_forget_mappings(&sampler->learning);
}

/* Sets the vCPU's CPU time since its last sample. The totals are rounded down, not the
 * differences, so that nothing is lost from sample to sample. */
static void take_cpu_time(struct sampler *sampler, const struct guest_vcpu *vcpu,
			  struct sample *sample)
{
	uint64_t *ran = &sampler->ran[sample->vcpu];
	uint64_t now = vcpu->cpu_time - vcpu->cpu_time % sampler->cpu_time_unit;

	sample->has_cpu_time = vcpu->cpu_time != CPU_TIME_UNKNOWN;
	if (!sample->has_cpu_time)
		return;
	sample->cpu_time = *ran && now > *ran ? now - *ran : 0;
	if (now > *ran)
		*ran = now;
}

void sampler_forget_cpu_times(struct sampler *sampler)
{
	memset(sampler->ran, 0, sampler->guest->info.vcpus * sizeof(*sampler->ran));
	memset(sampler->tally, 0, sampler->guest->info.vcpus * sizeof(*sampler->tally));
	sampler->has_begun = false;
}

/* Whether this process was stopped and goes on, and the recorder has not noticed yet. */
static bool was_stopped(const struct sampler *sampler)
{
	sigset_t pending;

	return clock_monotonic() - sampler->begun > SIGNALS_LATE_NS &&
	       sigpending(&pending) == 0 && sigismember(&pending, SIGCONT) == 1;
}

/* Completes the samples with data that needs no paused guest. */
static void complete_samples(struct sampler *sampler, struct round *round)
{
	/* What the guest used while the recorder was stopped is of no sample. */
	if (was_stopped(sampler))
		sampler_forget_cpu_times(sampler);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];
		const struct guest_vcpu *vcpu = &sampler->guest->vcpu[sample->vcpu];

		take_cpu_time(sampler, vcpu, sample);
		sample->process = (struct recording_process){
			.space = cpu_space(&vcpu->cpu)};
	}
	learning_complete(&sampler->learning, round);
}

void sampler_begin_pages(struct sampler *sampler, uint64_t now)
{
	struct guest *guest = sampler->guest;
	unsigned int stack_pages = sampler->sampling.stack_bytes / GUEST_PAGE_SIZE;

	guest->ops->begin_pages(guest->memory, now,
				ROUND_MAPS(guest->info.vcpus, stack_pages));
}

static void begin_round(struct sampler *sampler, uint32_t weight, struct round *round)
{
	sampler->weight = weight;
	sampler->tries = 0;
	round->time = sampler->begun = clock_monotonic();
	round->pauses = 0;
	round->samples = 0;
	round->sample = sampler->sample;
	round->stack = sampler->stack;
	round->found_code = false;
	round->has_more = false;
	round->lost = 0;
}

static void finish_round(struct sampler *sampler, struct round *round)
{
	round->table = learning_table(&sampler->learning);
	round->programs = sampler->programs;
	for (unsigned int i = 0; i < round->samples; i++)
		sampler->programs[i] = learning_programs(&sampler->learning,
							 round->sample[i].process.space);
	if (learning_study(&sampler->learning, round))
		sampler->calm = 0;
}

int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err)
{
	begin_round(sampler, weight, round);
	if (sampler->stage != ROUND_EVENTS)
		sampler_begin_pages(sampler, round->time);
	if (sampler->guest->has_events || sampler->stage != ROUND_BEGINS) {
		if (sampler_take_events(sampler, round, err) < 0)
			return -1;
		complete_samples(sampler, round);
		finish_round(sampler, round);
		return 0;
	}
	if (sampler_observe(sampler, round, err) < 0 ||
	    sampler_pause(sampler, round, err) < 0)
		return -1;
	if (round->outcome == ROUND_TAKEN &&
	    learning_check_table(&sampler->learning, round)) {
		/* Not at round->time: what the check has read would be copied in the
		 * pause. */
		sampler_begin_pages(sampler, clock_monotonic());
		if (sampler_pause(sampler, round, err) < 0)
			return -1;
	}
	complete_samples(sampler, round);
	finish_round(sampler, round);
	return 0;
}

int sampler_look(struct sampler *sampler, struct round *round, struct error *err)
{
	struct guest *guest = sampler->guest;
	enum observation observation;

	begin_round(sampler, 1, round);
	guest->ops->begin_pages(guest->memory, round->time, UINT_MAX);
	if (guest->ops->observe(guest, round->time, &observation, err) < 0)
		return -1;
	round->outcome = observation == OBSERVED_GONE ? ROUND_GONE : ROUND_TAKEN;
	if (round->outcome == ROUND_GONE)
		return 0;
	do {
		if (guest->ops->take(guest, err) < 0)
			return -1;
	} while (guest->ops->learn_modes(guest));
	learning_check_table(&sampler->learning, round);
	guest->ops->begin_pages(guest->memory, round->time, UINT_MAX);
	sampler_rehearse(sampler, round);
	finish_round(sampler, round);
	return 0;
}
