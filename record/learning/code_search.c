/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/code_search.h"

#include "record/learning/returns.h"

/* Limit of map calls while reading code after a round */
#define FIND_MAPS (2 * FOUND_CODE_SIZE / GUEST_PAGE_SIZE)

/* Percentage of the chains that go astray in a region of code, from which on the region
 * is examined: it costs some 10 ms of CPU time, and rules cost more than frame pointers.
 */
#define BAD_PERCENT 2

/* Number of rounds without a vCPU in the address space of a place, after which another
 * place is chosen */
#define WAITS_MAX 100

/* Number of chains at which counts are halved */
#define CHAINS_MAX 4096

void code_search_free(struct code_search *search)
{
	if (search->examiner)
		examiner_drop(search->examiner, search->found);
}

uint64_t code_search_space(const struct code_search *search)
{
	return search->found ? found_code_space(search->found) : 0;
}

const struct unwind_table *code_search_table(const struct code_search *search)
{
	return search->found ? found_code_table(search->found) : NULL;
}

bool code_search_is_open(const struct code_search *search)
{
	return search->examiner && !code_search_table(search) &&
	       (search->chains < search->chains_min || search->found);
}

/*
 * Returns the number of the address in the chain whose caller is not known, or not right:
 * the last one, or one to which the next address's call does not lead. -1: all is well,
 * or code does not help.
 */
static int find_astray(const struct sample *sample, const struct unwind_input *input)
{
	const struct chain *chain = &sample->chain;
	uint64_t space = sample->process.space;
	uint32_t last = chain->count - 1;

	if (!chain->count || chain->is_stack || chain->end == CHAIN_REAL_MODE)
		return -1;
	for (uint32_t i = 1; i < chain->count; i++)
		if (returns_doubt(input->returns, space, chain, i) &&
		    !unwind_is_described(input, space, chain->address[i - 1] - (i > 1)))
			return (int)i - 1;
	if (chain->end == CHAIN_WHOLE || chain->end == CHAIN_TOO_DEEP ||
	    chain->end == CHAIN_NOT_READY || chain_mark_name(chain->address[last]) ||
	    unwind_is_described(input, space, chain->address[last] - (last > 0)))
		return -1;
	return (int)last;
}

bool code_search_is_astray(const struct code_search *search, const struct sample *sample,
			   const struct unwind_input *input)
{
	return search->examiner && find_astray(sample, input) >= 0;
}

static struct search_region *region_of(struct code_search *search, uint64_t address)
{
	uint64_t number = address / FOUND_CODE_SIZE;
	struct search_region *region = &search->region[number % SEARCH_REGIONS];

	if (region->number != number)
		*region = (struct search_region){.number = number};
	return region;
}

/* Halves the counts now and then, so that lately seen chains count most. */
static void forget(struct code_search *search)
{
	if (search->chains < CHAINS_MAX)
		return;
	search->chains /= 2;
	for (size_t i = 0; i < SEARCH_REGIONS; i++)
		search->region[i].bad /= 2;
}

void code_search_count(struct code_search *search, unsigned int chains)
{
	forget(search);
	search->chains += chains;
}

/* Counts where the round's chains go astray. */
static void count_astray(struct code_search *search, const struct unwind_input *input,
			 const struct round *round)
{
	code_search_count(search, round->samples);
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];
		int astray = find_astray(sample, input);

		if (astray >= 0)
			region_of(search, sample->chain.address[astray])->bad++;
	}
}

/* Chooses a place in which a chain goes astray, if many do in its region. False if there
 * is none. */
static bool choose_place(struct code_search *search, const struct guest *guest,
			 const struct unwind_input *input, const struct round *round)
{
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample =
			&round->sample[search->turn++ % round->samples];
		const struct cpu *cpu = &guest->vcpu[sample->vcpu].cpu;
		int astray = find_astray(sample, input);
		uint64_t place;

		if (astray < 0)
			continue;
		place = sample->chain.address[astray];
		if (!found_code_lacks(search->found, cpu, place) ||
		    100 * region_of(search, place)->bad < BAD_PERCENT * search->chains)
			continue;
		search->place = place;
		search->space = cpu_space(cpu);
		search->is_asked = false;
		search->waits = 0;
		return true;
	}
	return false;
}

/* Returns a vCPU that has the address space of the place; NULL if there is none. */
static const struct cpu *find_cpu(const struct code_search *search,
				  const struct guest *guest, const struct round *round)
{
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct cpu *cpu = &guest->vcpu[round->sample[i].vcpu].cpu;

		if (cpu_space(cpu) == search->space)
			return cpu;
	}
	return NULL;
}

/* Reads the code around the place, or asks for more of its pages. False if there is no
 * code to examine yet; *@goes_on is then whether the next round may read it. */
static bool read_place(struct code_search *search, const struct cpu *cpu,
		       const struct guest_memory *memory, bool *goes_on)
{
	const struct chain chain = {.address = &search->place, .count = 1};
	size_t pages = found_code_ask(search->found, cpu, memory, search->place);
	bool is_read;

	*goes_on = pages < FOUND_CODE_PAGES &&
		   (!search->is_asked || pages > search->pages);
	search->is_asked = true;
	search->pages = pages;
	if (*goes_on)
		return false;
	is_read = found_code_read(search->found, cpu, memory, &chain);
	search->place = 0;
	return is_read;
}

/* Reads code in which a chain goes astray, if many do. False if there is no code to
 * examine yet. */
static bool read_code(struct code_search *search, const struct guest *guest,
		      const struct unwind_input *input, struct round *round)
{
	const struct cpu *cpu;

	if (!search->place && !choose_place(search, guest, input, round))
		return false;
	cpu = find_cpu(search, guest, round);
	if (!cpu) {
		if (++search->waits == WAITS_MAX)
			search->place = 0;
		return false;
	}
	guest->ops->begin_pages(guest->memory, round->time, FIND_MAPS);
	return read_place(search, cpu, &input->memory, &round->found_code);
}

bool code_search_run(struct code_search *search, const struct guest *guest,
		     const struct unwind_input *input, struct round *round)
{
	const struct found_code *job;
	bool is_renewed = false;

	if (!search->examiner)
		return false;
	count_astray(search, input, round);
	if (search->chains < search->chains_min)
		return false;
	job = examiner_job(search->examiner);
	if (search->found && search->found != job)
		is_renewed = found_code_renew(search->found);
	/* No memory may be allocated during a job. */
	if (job || !examiner_has_room(search->examiner))
		return is_renewed;
	if (!search->found)
		search->found = found_code_new();
	if (!search->found || !read_code(search, guest, input, round))
		return is_renewed;
	examiner_give(search->examiner, search->found);
	/* Without a thread, the code is examined already. */
	round->found_code = !examiner_job(search->examiner) &&
			    found_code_renew(search->found);
	return is_renewed || round->found_code;
}

void code_search_check(const struct code_search *search, const struct unwind_input *input,
		       struct round *round)
{
	for (unsigned int i = 0; search->found && i < round->samples; i++)
		found_code_check(search->found, input, round->sample[i].process.space,
				 &round->sample[i].chain);
}
