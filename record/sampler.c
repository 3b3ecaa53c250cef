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
#include "unwind/unwind.h"

/*
 * Limit of map calls in a round, for a guest with this number of vCPUs, whose stacks are
 * captured in this number of pages. A chain of which every page is new takes about ten. A
 * deep chain with pages far from each other takes more, and is complete a round later.
 */
#define ROUND_MAPS(vcpus, pages) (64 + (8 + (pages)) * (vcpus))

/* Limit of the guest's code that is read for a chain during a pause, halfwords */
#define PAUSE_CODE_BUDGET 4096

/*
 * A rehearsal costs as much CPU time as the walk itself. After CALM_ROUNDS rounds in
 * which one try sufficed, a rehearsal is left out if the last one was less than
 * REHEARSAL_LASTS (ns) ago: caches and TLB still hold most of the data.
 */
#define CALM_ROUNDS	16
#define REHEARSAL_LASTS (2 * NS_PER_S / 1000)

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

/*
 * Walks without pausing, as a rehearsal of the next pause: maps pages that the last walks
 * missed, remembers what walks find in code, and brings the data that the walks in the
 * pause will most likely need into the caches and the TLB, including the code of the walk
 * itself. The guest runs meanwhile, so a rehearsal may follow wrong data; the pause then
 * misses something again.
 */
static void walk_unpaused(struct sampler *sampler, struct round *round)
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

static void begin_round(struct sampler *sampler, uint32_t weight, unsigned int map_calls,
			struct round *round)
{
	struct guest *guest = sampler->guest;

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
	guest->ops->begin_pages(guest->memory, round->time, map_calls);
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
		struct round discarded = {0};
		bool missed, learned;
		int status;

		if (sampler->tries++ || !is_rehearsed(sampler, round)) {
			walk_unpaused(sampler, &discarded);
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

int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err)
{
	struct guest *guest = sampler->guest;
	unsigned int stack_pages = sampler->sampling.stack_bytes / GUEST_PAGE_SIZE;
	unsigned int map_calls = ROUND_MAPS(guest->info.vcpus, stack_pages);

	begin_round(sampler, weight, map_calls, round);
	if (guest->has_events || sampler->stage != ROUND_BEGINS) {
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
		guest->ops->begin_pages(guest->memory, round->time, map_calls);
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

	begin_round(sampler, 1, UINT_MAX, round);
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
	walk_unpaused(sampler, round);
	finish_round(sampler, round);
	return 0;
}
