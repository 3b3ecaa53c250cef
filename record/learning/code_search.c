/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/code_search.h"

#include "unwind/unwind.h"

/* Limit of map calls while reading code after a round */
#define FIND_MAPS (2 * FOUND_CODE_SIZE / GUEST_PAGE_SIZE)

void code_search_free(struct code_search *search)
{
	if (search->examiner)
		examiner_drop(search->examiner, search->found);
}

const struct unwind_table *code_search_table(const struct code_search *search)
{
	return search->found ? found_code_table(search->found) : NULL;
}

/* Returns whether frame pointers are missing: most chains have only the caller that the
 * code after the sampled instruction shows. */
static bool are_chains_short(struct code_search *search, const struct round *round)
{
	for (unsigned int i = 0; i < round->samples; i++) {
		search->chains++;
		search->short_chains += round->sample[i].chain.count <= X86_EXITS_MAX + 1;
	}
	return search->chains >= search->chains_min &&
	       2 * search->short_chains > search->chains;
}

/* Reads code that a chain leads to. False if there is no code to examine. */
static bool read_code(struct code_search *search, const struct guest *guest,
		      const struct guest_memory *memory, const struct round *round)
{
	guest->ops->begin_pages(guest->memory, round->time, FIND_MAPS);
	for (unsigned int i = 0; i < round->samples; i++) {
		const struct sample *sample = &round->sample[i];

		if (found_code_read(search->found, &guest->vcpu[sample->vcpu].cpu, memory,
				    &sample->chain))
			return true;
	}
	return false;
}

bool code_search_run(struct code_search *search, const struct guest *guest,
		     const struct guest_memory *memory, struct round *round)
{
	const struct found_code *job;
	bool is_renewed = false;

	if (!search->examiner || (!search->found && !are_chains_short(search, round)))
		return false;
	job = examiner_job(search->examiner);
	if (search->found && search->found != job)
		is_renewed = found_code_renew(search->found);
	/* No memory may be allocated during a job. */
	if (job || !examiner_has_room(search->examiner))
		return is_renewed;
	if (!search->found)
		search->found = found_code_new();
	if (!search->found || !read_code(search, guest, memory, round))
		return is_renewed;
	examiner_give(search->examiner, search->found);
	/* Without a thread, the code is examined already. */
	round->found_code = !examiner_job(search->examiner) &&
			    found_code_renew(search->found);
	return is_renewed || round->found_code;
}

void code_search_check(const struct code_search *search, struct round *round)
{
	for (unsigned int i = 0; search->found && i < round->samples; i++)
		found_code_check(search->found, &round->sample[i].chain);
}
