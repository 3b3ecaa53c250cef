/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/table_check.h"

#include "base/clock.h"

/* Time between two checks of a table, ns, and limit of map calls in each. Later checks
 * are further apart: most of what they may find belongs to a program that starts late. */
#define CHECK_NS     (NS_PER_S / 4)
#define QUICK_CHECKS 40
#define LATER_NS     (2 * NS_PER_S)
#define CHECK_MAPS   (8 * TABLE_PLACES)

/* Number of checks that must find other code where a program should be, before it is
 * given up and looked for rarely. Another process may have the program's addresses for
 * the moment, or the program may have been moved, and be found only while it runs. */
#define MISFITS_MAX 8

/* Number of quick checks in the time between two later ones */
#define RARE_CHECKS (LATER_NS / CHECK_NS)

/* Number of checks for which a table is waited for that the user gave, and for one that
 * was found. */
#define GIVEN_CHECKS 16
#define FOUND_CHECKS 4

void table_check_free(struct table_check *check)
{
	spaces_free(&check->spaces);
	unwind_table_free(check->hypercalls);
	unwind_table_free(check->made);
}

bool table_check_is_open(const struct table_check *check)
{
	return check->state == TABLE_PENDING &&
	       check->checks <
		       (check->placed.table->is_found ? FOUND_CHECKS : GIVEN_CHECKS);
}

const char *table_check_why(const struct table_check *check)
{
	const struct program_table *table = check->placed.table;

	for (size_t i = 0; i < table->origins; i++)
		if (!check->placed.is_found[i] && check->miss[i].is_given_up)
			return check->miss[i].why.text;
	for (size_t i = 0; i < table->origins; i++)
		if (!check->placed.is_found[i] && check->miss[i].why.text[0])
			return check->miss[i].why.text;
	return "";
}

/* Looks for a program in the vCPUs' address spaces, until it is found. Returns what says
 * most, and sets @why for it. */
static enum table_fit find_program(struct table_check *check, size_t number,
				   const struct guest *guest,
				   const struct guest_memory *memory,
				   const struct round *round, struct error *why)
{
	enum table_fit fit = TABLE_UNSEEN;

	if (!why->text[0])
		error_set(why, "none of its vCPUs could be read");
	for (unsigned int i = 0; i < guest->info.vcpus && fit != TABLE_FITS; i++) {
		const struct chain chain = round_chain(round, i);
		enum table_fit here;
		struct error reason;

		if (!guest->vcpu[i].captured)
			continue;
		here = placed_table_find(&check->placed, number, &guest->vcpu[i].cpu,
					 memory, chain.address, chain.count, &reason);
		if (here < fit)
			continue;
		fit = here;
		if (here != TABLE_FITS)
			*why = reason;
	}
	return fit;
}

/* Whether address spaces may need tables of their own. */
static bool watches_spaces(const struct table_check *check)
{
	return check->state == TABLE_USED &&
	       (check->placed.rivals ||
		(check->has_several && placed_table_varies(&check->placed)));
}

/* Whether the program is to be looked for in this check. */
static bool is_wanted(const struct table_check *check, size_t number)
{
	const struct table_miss *miss = &check->miss[number];
	bool is_early = check->checks < QUICK_CHECKS;

	if (check->placed.is_found[number] || miss->is_final)
		return false;
	return (is_early && !miss->is_given_up) || check->checks % RARE_CHECKS == 0 ||
	       !(is_early || watches_spaces(check));
}

/* Notes whether the guest has several address spaces. */
static void note_spaces(struct table_check *check, const struct guest *guest)
{
	for (unsigned int i = 0; i < guest->info.vcpus && !check->has_several; i++) {
		uint64_t space = cpu_space(&guest->vcpu[i].cpu);

		if (!guest->vcpu[i].captured)
			continue;
		check->has_several |= check->space && check->space != space;
		check->space = space;
	}
}

/* Looks for the programs that are wanted. True if one is found. */
static bool find_programs(struct table_check *check, const struct guest *guest,
			  const struct guest_memory *memory, const struct round *round)
{
	bool is_found = false;

	for (size_t i = 0; i < check->placed.table->origins; i++) {
		struct table_miss *miss = &check->miss[i];
		enum table_fit fit;

		if (!is_wanted(check, i))
			continue;
		fit = find_program(check, i, guest, memory, round, &miss->why);
		is_found |= fit == TABLE_FITS;
		/* What one process has at the address says nothing of the others. */
		miss->misfits += fit == TABLE_DIFFERS ||
				 (fit == TABLE_RIVALED && !check->has_several);
		miss->is_final = fit == TABLE_FOREIGN || fit == TABLE_TAKEN;
		miss->is_given_up = miss->is_final || miss->misfits >= MISFITS_MAX;
	}
	return is_found;
}

static void find_hypercalls(struct table_check *check, const struct guest *guest,
			    const struct guest_memory *memory)
{
	for (unsigned int i = 0; i < guest->info.vcpus && !check->hypercalls; i++)
		if (guest->vcpu[i].captured)
			check->hypercalls = placed_table_hypercalls(
				&check->placed, &guest->vcpu[i].cpu, memory);
}

/* Number of the table's programs that were found, that were given up, and that can't be
 * found any more. */
static size_t count_found(const struct table_check *check)
{
	size_t count = 0;

	for (size_t i = 0; i < check->placed.table->origins; i++)
		count += check->placed.is_found[i];
	return count;
}

static size_t count_given_up(const struct table_check *check)
{
	size_t count = 0;

	for (size_t i = 0; i < check->placed.table->origins; i++)
		count += check->miss[i].is_given_up && !check->placed.is_found[i];
	return count;
}

static size_t count_final(const struct table_check *check)
{
	size_t count = 0;

	for (size_t i = 0; i < check->placed.table->origins; i++)
		count += check->miss[i].is_final;
	return count;
}

/* Uses the table for the programs that were found. False if out of memory. */
static bool use_table(struct table_check *check)
{
	struct unwind_table *made = NULL;

	if (!placed_table_is_plain(&check->placed)) {
		const struct placed_table common = placed_table_common(&check->placed);

		made = placed_table_make_locked(&common);
		if (!made)
			return false;
	}
	spaces_free(&check->spaces);
	unwind_table_free(check->made);
	check->made = made;
	check->table = made ? made : check->placed.table->table;
	return true;
}

/* Gives up the programs that were not found @before. */
static void give_up_found(struct table_check *check, const struct placed_table *before)
{
	for (size_t i = 0; i < before->table->origins; i++) {
		if (check->placed.is_found[i] == before->is_found[i])
			continue;
		check->miss[i].is_given_up = check->miss[i].is_final = true;
		error_set(&check->miss[i].why,
			  "there is no memory for a table of its programs");
	}
	check->placed = *before;
}

/* Sets the state of a table after a check. */
static void set_state(struct table_check *check)
{
	const struct program_table *table = check->placed.table;
	size_t given_up = count_given_up(check);

	if (check->table)
		check->state = TABLE_USED;
	else if (given_up == table->origins ||
		 (given_up && !program_table_is_separable(table)))
		check->state = TABLE_REFUSED;
}

/* Whether another check may find something. */
static bool is_worth_it(const struct table_check *check)
{
	if (check->state == TABLE_NONE)
		return false;
	return watches_spaces(check) ||
	       (check->state == TABLE_USED && !check->hypercalls) ||
	       count_found(check) + count_final(check) < check->placed.table->origins;
}

/* Whether a check is to be made now. */
static bool is_due(struct table_check *check, const struct guest *guest, uint64_t time)
{
	bool is_blind = true;

	for (unsigned int i = 0; i < guest->info.vcpus && is_blind; i++)
		is_blind = !guest->vcpu[i].captured;
	if (time < check->due && (is_blind || !check->was_blind))
		return false;
	check->was_blind = is_blind;
	return is_worth_it(check);
}

bool table_check_run(struct table_check *check, const struct guest *guest,
		     const struct guest_memory *memory, const struct round *round)
{
	struct placed_table before;
	bool is_quick, is_new;

	note_spaces(check, guest);
	if (!is_due(check, guest, round->time))
		return false;
	before = check->placed;
	is_quick = ++check->checks < QUICK_CHECKS || watches_spaces(check);
	check->due = round->time + (is_quick ? CHECK_NS : LATER_NS);
	guest->ops->begin_pages(guest->memory, round->time, CHECK_MAPS);
	is_new = find_programs(check, guest, memory, round) &&
		 (program_table_is_separable(before.table) ||
		  count_found(check) == before.table->origins);
	if (is_new && !use_table(check)) {
		give_up_found(check, &before);
		is_new = false;
	}
	set_state(check);
	if (check->state == TABLE_USED && !check->hypercalls)
		find_hypercalls(check, guest, memory);
	if (watches_spaces(check))
		is_new |= spaces_look(&check->spaces, &check->placed, guest, memory,
				      round);
	return is_new;
}
