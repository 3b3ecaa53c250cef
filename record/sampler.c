/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/sampler.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "record/linux/modules.h"
#include "record/linux/tasks.h"
#include "tables/found_code.h"
#include "unwind/stack/stack.h"
#include "unwind/unwind.h"

/*
 * How many map calls a round may make, for a guest with so many vCPUs, whose stacks are
 * captured in so many pages. A chain of which everything is new takes about ten. A deep
 * one with pages far from each other takes more, and is complete a round later.
 */
#define ROUND_MAPS(vcpus, pages) (64 + (8 + (pages)) * (vcpus))

/* How much of a guest's code may be read for a chain during a pause, in halfwords. */
#define PAUSE_CODE_BUDGET 4096

/* The time between two checks of a table, and how many map calls each may make. */
#define CHECK_NS   (NS_PER_S / 4)
#define CHECK_MAPS (8 * TABLE_PLACES)

/* How many map calls may be made to read code. */
#define FIND_MAPS (2 * FOUND_CODE_SIZE / GUEST_PAGE_SIZE)

/* The same, to examine return addresses. */
#define LEARN_MAPS (X86_LEARN_MAX * UNWIND_CODE_PAGES_MAX)

/*
 * A rehearsal costs as much CPU time as the walk itself. After so many rounds in which
 * one pause sufficed, those are left out that would come so soon after the last one that
 * caches and TLB still hold most of what it brought.
 */
#define CALM_ROUNDS	16
#define REHEARSAL_LASTS (2 * NS_PER_S / 1000)

struct sampler {
	struct guest *guest;
	uint32_t index;
	struct sample *sample; /* one for each vCPU */
	uint32_t weight;       /* of the round's samples */
	uint64_t cpu_time_unit;
	uint64_t *ran;	   /* CPU time of each at its last sample, ns, in multiples of the
			      unit */
	uint64_t *address; /* of each vCPU's chain, */
	size_t room;	   /* which has room for so many */
	struct code_notes notes;
	struct x86_entries entries;
	const struct program_table *program; /* the table to check */
	const struct unwind_table *table;    /* the same in use; NULL: not yet */
	uint64_t shift;			     /* of the Linux kernel in the guest */
	struct unwind_table *moved;	     /* for that; NULL: there is none */
	struct unwind_table *hypercalls;     /* its addition; NULL: not yet */
	enum table_state table_state;
	struct modules *modules; /* of the Linux kernel in use; NULL: not known */
	struct tasks tasks;	 /* the same */
	uint64_t table_check;	 /* when to check again: ns, monotonic */
	struct error table_error;
	struct examiner *examiner; /* of the code; NULL: it is not looked for */
	struct found_code *found;  /* NULL: not yet */
	unsigned int chains, short_chains, chains_min;
	unsigned int stack_bytes; /* 0: stacks are not captured */
	struct stack_copy *stack; /* then: of each sample */
	struct stack_filter *filter;
	uint64_t rehearsed; /* when the last rehearsal was: ns, monotonic */
	unsigned int calm;  /* rounds since the last with several pauses */
};

struct sampler *sampler_new(struct guest *guest, uint32_t index, uint64_t period,
			    struct error *err)
{
	struct sampler *sampler = calloc(1, sizeof(*sampler));
	size_t vcpus = guest->info.vcpus;
	size_t chains = vcpus * CHAIN_ROOM * sizeof(*sampler->address);

	if (sampler) {
		sampler->guest = guest;
		sampler->index = index;
		sampler->cpu_time_unit = period / 10 ? period / 10 : 1;
		sampler->room = CHAIN_ROOM;
		sampler->sample = calloc(vcpus, sizeof(*sampler->sample));
		sampler->ran = calloc(vcpus, sizeof(*sampler->ran));
		sampler->address = calloc(1, chains);
	}
	if (!sampler || !sampler->sample || !sampler->ran || !sampler->address) {
		sampler_free(sampler);
		error_set(err, "out of memory");
		return NULL;
	}
	if (mlock(sampler->address, chains) < 0) {
		error_errno(err, errno, "can't lock %zu KiB of memory (ulimit -l)",
			    chains / 1024);
		sampler_free(sampler);
		return NULL;
	}
	return sampler;
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	modules_free(sampler->modules);
	unwind_table_free(sampler->hypercalls);
	unwind_table_free(sampler->moved);
	if (sampler->examiner)
		examiner_drop(sampler->examiner, sampler->found);
	stack_filter_free(sampler->filter);
	if (sampler->stack)
		free(sampler->stack[0].word);
	free(sampler->stack);
	free(sampler->sample);
	free(sampler->ran);
	free(sampler->address);
	free(sampler);
}

void sampler_use(struct sampler *sampler, const struct program_table *table)
{
	sampler->program = table;
	sampler->table_state = table ? TABLE_PENDING : TABLE_NONE;
}

void sampler_find(struct sampler *sampler, struct examiner *examiner, unsigned int chains)
{
	sampler->examiner = examiner;
	sampler->chains_min = chains;
}

/* Replaces the room for chains by that for stacks, and for chains of these. */
int sampler_capture(struct sampler *sampler, unsigned int bytes, struct error *err)
{
	size_t vcpus = sampler->guest->info.vcpus, words = STACK_WORDS(bytes);
	uint64_t *address = calloc(vcpus * STACK_CHAIN_MAX, sizeof(*address));
	uint64_t *word = calloc(vcpus * words, sizeof(*word));

	sampler->filter = stack_filter_new();
	sampler->stack = calloc(vcpus, sizeof(*sampler->stack));
	if (!address || !word || !sampler->filter || !sampler->stack) {
		free(address);
		free(word);
		return error_set(err, "out of memory");
	}
	free(sampler->address);
	sampler->address = address;
	sampler->room = STACK_CHAIN_MAX;
	for (size_t i = 0; i < vcpus; i++)
		sampler->stack[i].word = word + i * words;
	sampler->stack_bytes = bytes;
	if (mlock(word, vcpus * words * sizeof(*word)) < 0 ||
	    mlock(address, vcpus * STACK_CHAIN_MAX * sizeof(*address)) < 0)
		return error_errno(err, errno, "can't lock %zu KiB of memory (ulimit -l)",
				   vcpus * (words + STACK_CHAIN_MAX) * sizeof(*word) /
					   1024);
	return 0;
}

const struct unwind_table *sampler_found(const struct sampler *sampler)
{
	return sampler->found ? found_code_table(sampler->found) : NULL;
}

enum table_state sampler_table(const struct sampler *sampler, const char **why)
{
	*why = sampler->table_error.text;
	return sampler->table_state;
}

uint64_t sampler_linux(const struct sampler *sampler)
{
	uint64_t text = 0;

	if (sampler->table_state == TABLE_USED)
		text = program_table_linux(sampler->program);
	return text ? text + sampler->shift : 0;
}

uint32_t sampler_index(const struct sampler *sampler)
{
	return sampler->index;
}

/* The vCPU's CPU time since its last sample. The totals are rounded down, not the
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
	if (now)
		*ran = now;
}

void sampler_forget_cpu_times(struct sampler *sampler)
{
	memset(sampler->ran, 0, sampler->guest->info.vcpus * sizeof(*sampler->ran));
}

static struct unwind_input input_of(struct sampler *sampler,
				    const void *(*page)(void *memory, uint64_t frame))
{
	return (struct unwind_input){
		.memory = {.page = page, .context = sampler->guest->memory},
		.notes = &sampler->notes,
		.table = sampler->table,
		.hypercalls = sampler->hypercalls,
		.modules = sampler->modules ? modules_table(sampler->modules) : NULL,
		.entries = &sampler->entries,
	};
}

/* Copies the stack of the sample with that number; false if it must be unwound now. */
static bool capture(struct sampler *sampler, const struct cpu *cpu,
		    const struct guest_memory *memory, unsigned int number)
{
	if (!sampler->stack_bytes)
		return false;
	stack_copy(cpu, memory, sampler->stack_bytes, &sampler->stack[number]);
	return sampler->stack[number].is_taken;
}

static void walk(struct sampler *sampler, const struct unwind_input *input,
		 struct round *round)
{
	const struct guest *guest = sampler->guest;

	round->samples = 0;
	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct guest_vcpu *vcpu = &guest->vcpu[i];
		struct sample *sample = &sampler->sample[round->samples];
		uint64_t misses;

		if (!vcpu->captured)
			continue;
		sample->time = round->time;
		sample->domain = sampler->index;
		sample->vcpu = i;
		sample->weight = sampler->weight;
		sample->state = (uint8_t)vcpu->state;
		sample->chain.address = sampler->address + round->samples * sampler->room;
		if (capture(sampler, &vcpu->cpu, &input->memory, round->samples++))
			continue;
		misses = guest->ops->page_misses(guest->memory);
		cpu_unwind(&vcpu->cpu, input, &sample->chain);
		if (sample->chain.end == CHAIN_NO_PAGE &&
		    guest->ops->page_misses(guest->memory) != misses)
			sample->chain.end = CHAIN_NOT_READY;
	}
}

/* Makes chains of the round's stacks. */
static void keep_stacks(struct sampler *sampler, struct round *round)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input input = input_of(sampler, guest->ops->map_page);

	if (!sampler->stack_bytes)
		return;
	guest->ops->begin_pages(guest->memory, round->time, FIND_MAPS);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];

		if (sampler->stack[i].is_taken)
			stack_keep(sampler->filter, &guest->vcpu[sample->vcpu].cpu,
				   &input.memory, &sampler->stack[i], &sample->chain);
	}
}

/* Adds what needs no paused guest. */
static void complete_samples(struct sampler *sampler, const struct round *round)
{
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];
		const struct guest_vcpu *vcpu = &sampler->guest->vcpu[sample->vcpu];

		take_cpu_time(sampler, vcpu, sample);
		sample->process = (struct recording_process){
			.space = cpu_space(&vcpu->cpu)};
	}
}

/* Adds the processes' pids and names, as soon after the pause as possible. */
static void name_processes(struct sampler *sampler, const struct round *round)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input input = input_of(sampler, guest->ops->map_page);

	if (!sampler->tasks.layout || !round->samples)
		return;
	guest->ops->begin_pages(guest->memory, round->time, TASK_MAPS * round->samples);
	for (unsigned int i = 0; i < round->samples; i++) {
		struct sample *sample = &round->sample[i];

		tasks_name(&sampler->tasks, &guest->vcpu[sample->vcpu].cpu, &input.memory,
			   sample->vcpu, &sample->process);
	}
}

/*
 * Repeats the last walks: maps what they missed, notes what they find in code, and brings
 * what the walks of the next pause will most likely need into the caches and the TLB,
 * including the code that walks. The guest runs meanwhile, so this may follow wrong data;
 * the next attempt then misses something again.
 */
static void rehearse(struct sampler *sampler)
{
	const struct guest *guest = sampler->guest;
	const struct unwind_input input = input_of(sampler, guest->ops->map_page);
	struct round discarded = {0};

	code_notes_renew(&sampler->notes);
	walk(sampler, &input, &discarded);
}

static bool is_rehearsed(const struct sampler *sampler, const struct round *round)
{
	return round->pauses == 0 && sampler->calm >= CALM_ROUNDS &&
	       sampler->guest->ops->are_pages_live &&
	       round->time - sampler->rehearsed < REHEARSAL_LASTS;
}

/* One pause: 0, an enum pause_outcome, or -1. */
static int attempt(struct sampler *sampler, struct round *round, struct error *err)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input mapped = input_of(sampler, guest->ops->get_page);
	uint64_t start, length;
	int status;

	guest->ops->prepare(guest);
	sampler->notes.budget = PAUSE_CODE_BUDGET;
	start = clock_monotonic();
	status = guest->ops->pause(guest, err);
	if (status)
		return status;
	round->time = start - start % NS_PER_US;
	walk(sampler, &mapped, round);
	status = guest->ops->resume(guest, err);
	length = clock_monotonic() - start;
	if (status == 0) {
		uint64_t excess = guest->ops->finish(guest);

		length -= excess < length ? excess : length;
	}
	round->pause[round->pauses++] = length;
	return status;
}

static void begin(struct sampler *sampler, uint32_t weight, unsigned int map_calls,
		  struct round *round)
{
	struct guest *guest = sampler->guest;

	sampler->weight = weight;
	round->time = clock_monotonic();
	round->pauses = 0;
	round->samples = 0;
	round->sample = sampler->sample;
	round->found_code = false;
	guest->ops->begin_pages(guest->memory, round->time, map_calls);
}

/* Pauses until nothing is missing, or too often. */
static int take(struct sampler *sampler, struct round *round, struct error *err)
{
	struct guest *guest = sampler->guest;

	while (round->outcome == ROUND_TAKEN && round->pauses < ROUND_PAUSES) {
		bool missed, learned;
		int status;

		if (!is_rehearsed(sampler, round)) {
			rehearse(sampler);
			sampler->rehearsed = round->time;
		}
		status = attempt(sampler, round, err);
		if (status < 0)
			return -1;
		if (status > 0)
			round->outcome = status == PAUSE_HELD ? ROUND_PAUSED : ROUND_GONE;
		missed = guest->ops->pages_missed(guest->memory);
		learned = guest->ops->learn_modes(guest);
		if (!missed && !learned)
			break;
	}
	sampler->calm = round->pauses == 1 ? sampler->calm + 1 : 0;
	return 0;
}

/* Compares the table's programs with the guest's memory, as the vCPUs saw it in the last
 * pause. */
static enum table_fit check_fit(struct sampler *sampler,
				const struct guest_memory *memory)
{
	const struct guest *guest = sampler->guest;
	enum table_fit fit = TABLE_UNSEEN;

	for (unsigned int i = 0; i < guest->info.vcpus && fit == TABLE_UNSEEN; i++)
		if (guest->vcpu[i].captured)
			fit = program_table_check(sampler->program, &guest->vcpu[i].cpu,
						  memory, &sampler->shift,
						  &sampler->table_error);
	return fit;
}

/* Looks for the page that Xen fills with hypercalls, in the same way. */
static void find_hypercalls(struct sampler *sampler, const struct guest_memory *memory)
{
	const struct guest *guest = sampler->guest;

	for (unsigned int i = 0; i < guest->info.vcpus && !sampler->hypercalls; i++)
		if (guest->vcpu[i].captured)
			sampler->hypercalls = program_table_hypercalls(
				sampler->program, &guest->vcpu[i].cpu, memory);
}

/* Uses the table, which fits. False if there is no memory for that. */
static bool use_table(struct sampler *sampler)
{
	sampler->table = sampler->program->table;
	if (sampler->shift) {
		sampler->moved = program_table_move(sampler->program, sampler->shift);
		sampler->table = sampler->moved;
	}
	if (program_table_modules(sampler->program))
		sampler->modules = modules_new(program_table_modules(sampler->program));
	sampler->tasks = (struct tasks){
		.layout = program_table_tasks(sampler->program),
		.shift = sampler->shift,
	};
	if (sampler->table)
		return true;
	error_set(&sampler->table_error, "there is no memory for a table of its kernel");
	return false;
}

/* True if the table is used from now on. */
static bool check_table(struct sampler *sampler, uint64_t now)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input input = input_of(sampler, guest->ops->map_page);
	enum table_state before = sampler->table_state;
	bool is_pending = before == TABLE_PENDING;
	enum table_fit fit;

	if (now < sampler->table_check ||
	    !(is_pending || (before == TABLE_USED && !sampler->hypercalls)))
		return false;
	sampler->table_check = now + CHECK_NS;
	guest->ops->begin_pages(guest->memory, now, CHECK_MAPS);
	fit = is_pending ? check_fit(sampler, &input.memory) : TABLE_FITS;
	if (is_pending && fit == TABLE_FITS && !use_table(sampler))
		fit = TABLE_DIFFERS;
	if (fit == TABLE_FITS) {
		sampler->table_state = TABLE_USED;
		find_hypercalls(sampler, &input.memory);
	} else if (fit == TABLE_DIFFERS) {
		sampler->table_state = TABLE_REFUSED;
	}
	return is_pending && fit == TABLE_FITS;
}

/* Whether frame pointers are missing: most chains have no more callers than the code
 * after the sampled instruction shows. */
static bool are_chains_short(struct sampler *sampler, const struct round *round)
{
	for (unsigned int i = 0; i < round->samples; i++) {
		sampler->chains++;
		sampler->short_chains += round->sample[i].chain.count <=
					 X86_EXITS_MAX + 1;
	}
	return sampler->chains >= sampler->chains_min &&
	       2 * sampler->short_chains > sampler->chains;
}

/* True if there is a new table of the code. */
static bool renew_table(struct sampler *sampler)
{
	if (!found_code_renew(sampler->found))
		return false;
	sampler->table = found_code_table(sampler->found);
	sampler->calm = 0;
	return true;
}

/* Reads code that the chains lead to. */
static bool read_code(struct sampler *sampler, const struct round *round)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input input = input_of(sampler, guest->ops->map_page);

	guest->ops->begin_pages(guest->memory, round->time, FIND_MAPS);
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];

		if (found_code_read(sampler->found, &guest->vcpu[sample->vcpu].cpu,
				    &input.memory, &sample->chain))
			return true;
	}
	return false;
}

static void find_code(struct sampler *sampler, struct round *round)
{
	const struct found_code *job;

	if (!sampler->examiner || (!sampler->found && !are_chains_short(sampler, round)))
		return;
	job = examiner_job(sampler->examiner);
	if (sampler->found && sampler->found != job)
		renew_table(sampler);
	/* No memory is allocated during a job. */
	if (job || !examiner_has_room(sampler->examiner))
		return;
	if (!sampler->found)
		sampler->found = found_code_new();
	if (!sampler->found || !read_code(sampler, round))
		return;
	examiner_give(sampler->examiner, sampler->found);
	/* Without a thread, it is done. */
	round->found_code = !examiner_job(sampler->examiner) && renew_table(sampler);
}

/* Looks for the entries of interrupts among what the chains lead to. */
static void learn_entries(struct sampler *sampler, struct round *round)
{
	struct guest *guest = sampler->guest;
	const struct unwind_input input = input_of(sampler, guest->ops->map_page);

	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];
		const struct cpu *cpu = &guest->vcpu[sample->vcpu].cpu;

		if (cpu->family != CPU_FAMILY_X86 ||
		    !x86_entries_lack(&sampler->entries, &sample->chain))
			continue;
		guest->ops->begin_pages(guest->memory, round->time, LEARN_MAPS);
		if (x86_entries_learn(&sampler->entries, &cpu->x86, &input,
				      &sample->chain))
			round->found_code = true;
	}
}

/* Looks for the kernel's modules among what the chains lead to. */
static void find_modules(struct sampler *sampler, struct round *round)
{
	struct guest *guest = sampler->guest;

	for (unsigned int i = 0; sampler->modules && i < round->samples; i++) {
		const struct unwind_input input = input_of(sampler, guest->ops->map_page);
		const struct sample *sample = &round->sample[i];

		if (!modules_are_due(sampler->modules, &sample->chain, round->time))
			continue;
		guest->ops->begin_pages(guest->memory, round->time, MODULES_MAPS);
		if (!modules_look(sampler->modules, &guest->vcpu[sample->vcpu].cpu,
				  &input.memory, &sample->chain, round->time))
			continue;
		round->found_code = true;
		sampler->calm = 0;
	}
}

/* Once code is found, what is no caller there can be told from callers. */
static void check_found(const struct sampler *sampler, struct round *round)
{
	for (unsigned int i = 0; sampler->found && i < round->samples; i++)
		found_code_check(sampler->found, &round->sample[i].chain);
}

/* What the chains tell about the guest's code, while it runs. */
static void learn(struct sampler *sampler, struct round *round)
{
	check_found(sampler, round);
	find_code(sampler, round);
	learn_entries(sampler, round);
	find_modules(sampler, round);
}

int sampler_round(struct sampler *sampler, uint32_t weight, struct round *round,
		  struct error *err)
{
	static const enum round_outcome outcomes[] = {
		[OBSERVED_RUNNING] = ROUND_TAKEN, [OBSERVED_PAUSED] = ROUND_PAUSED,
		[OBSERVED_GREW] = ROUND_TAKEN,	  [OBSERVED_SHUT] = ROUND_SHUT,
		[OBSERVED_GONE] = ROUND_GONE,
	};
	struct guest *guest = sampler->guest;
	unsigned int map_calls = ROUND_MAPS(guest->info.vcpus,
					    sampler->stack_bytes / GUEST_PAGE_SIZE);
	enum observation observation;

	begin(sampler, weight, map_calls, round);
	if (guest->ops->observe(guest, round->time, &observation, err) < 0)
		return -1;
	round->outcome = outcomes[observation];
	if (take(sampler, round, err) < 0)
		return -1;
	if (round->outcome == ROUND_TAKEN && check_table(sampler, round->time)) {
		guest->ops->begin_pages(guest->memory, round->time, map_calls);
		if (take(sampler, round, err) < 0)
			return -1;
	}
	complete_samples(sampler, round);
	keep_stacks(sampler, round);
	name_processes(sampler, round);
	round->table = sampler->table ? sampler->program : NULL;
	learn(sampler, round);
	return 0;
}

int sampler_look(struct sampler *sampler, struct round *round, struct error *err)
{
	struct guest *guest = sampler->guest;
	struct unwind_input input;
	enum observation observation;

	begin(sampler, 1, UINT_MAX, round);
	if (guest->ops->observe(guest, round->time, &observation, err) < 0)
		return -1;
	round->outcome = observation == OBSERVED_GONE ? ROUND_GONE : ROUND_TAKEN;
	if (round->outcome == ROUND_GONE)
		return 0;
	do {
		if (guest->ops->take(guest, err) < 0)
			return -1;
	} while (guest->ops->learn_modes(guest));
	check_table(sampler, round->time);
	guest->ops->begin_pages(guest->memory, round->time, UINT_MAX);
	input = input_of(sampler, guest->ops->map_page);
	code_notes_renew(&sampler->notes);
	walk(sampler, &input, round);
	learn(sampler, round);
	return 0;
}
