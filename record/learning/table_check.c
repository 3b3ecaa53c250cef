/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/table_check.h"

#include "base/clock.h"

/* Time between two checks of a table, ns, and limit of map calls in each */
#define CHECK_NS   (NS_PER_S / 4)
#define CHECK_MAPS (8 * TABLE_PLACES)

/* Number of checks that must find other programs: a program may have been moved, and be
 * found only while it runs. */
#define MISFITS_MAX 4

/* Number of checks for which a table that was found is waited for. */
#define FOUND_CHECKS 4

void table_check_free(struct table_check *check)
{
	unwind_table_free(check->hypercalls);
	unwind_table_free(check->moved);
}

/* Returns the vCPU's sample in the round; NULL if it has none. */
static const struct sample *sample_of(const struct round *round, unsigned int vcpu)
{
	for (unsigned int i = 0; i < round->samples; i++)
		if (round->sample[i].vcpu == vcpu)
			return &round->sample[i];
	return NULL;
}

static enum table_fit find_fit(struct table_check *check, const struct guest *guest,
			       const struct guest_memory *memory,
			       const struct round *round)
{
	enum table_fit fit = TABLE_UNSEEN;

	if (!check->why.text[0])
		error_set(&check->why, "none of its vCPUs could be read");
	for (unsigned int i = 0; i < guest->info.vcpus && fit != TABLE_FITS; i++) {
		const struct sample *sample = sample_of(round, i);
		enum table_fit here;

		if (!guest->vcpu[i].captured)
			continue;
		here = placed_table_find(&check->placed, &guest->vcpu[i].cpu, memory,
					 sample ? sample->chain.address : NULL,
					 sample ? sample->chain.count : 0, &check->why);
		if (here != TABLE_UNSEEN)
			fit = here;
	}
	return fit;
}

bool table_check_is_open(const struct table_check *check)
{
	return check->state == TABLE_PENDING &&
	       (!check->placed.table->is_found || check->checks < FOUND_CHECKS);
}

/* Whether enough checks have found other programs. */
static bool is_refused(struct table_check *check)
{
	return !program_table_is_movable(check->placed.table) ||
	       ++check->misfits >= MISFITS_MAX;
}

static void find_hypercalls(struct table_check *check, const struct guest *guest,
			    const struct guest_memory *memory)
{
	for (unsigned int i = 0; i < guest->info.vcpus && !check->hypercalls; i++)
		if (guest->vcpu[i].captured)
			check->hypercalls = placed_table_hypercalls(
				&check->placed, &guest->vcpu[i].cpu, memory);
}

/* Starts to use the table, which fits. False if out of memory. */
static bool use_table(struct table_check *check)
{
	check->table = check->placed.table->table;
	if (!placed_table_is_plain(&check->placed)) {
		check->moved = placed_table_make(&check->placed);
		check->table = check->moved;
	}
	if (check->table)
		return true;
	error_set(&check->why, "there is no memory for a table of its programs");
	return false;
}

bool table_check_run(struct table_check *check, const struct guest *guest,
		     const struct guest_memory *memory, const struct round *round)
{
	uint64_t now = round->time;
	bool is_pending = check->state == TABLE_PENDING;
	enum table_fit fit = TABLE_FITS;

	if (now < check->due ||
	    !(is_pending || (check->state == TABLE_USED && !check->hypercalls)))
		return false;
	check->due = now + CHECK_NS;
	guest->ops->begin_pages(guest->memory, now, CHECK_MAPS);
	check->checks++;
	if (is_pending)
		fit = find_fit(check, guest, memory, round);
	if (is_pending && fit == TABLE_FITS && !use_table(check)) {
		check->state = TABLE_REFUSED;
		return false;
	}
	if (fit == TABLE_FITS) {
		check->state = TABLE_USED;
		find_hypercalls(check, guest, memory);
	} else if (fit == TABLE_DIFFERS && is_refused(check)) {
		check->state = TABLE_REFUSED;
	}
	return is_pending && fit == TABLE_FITS;
}
