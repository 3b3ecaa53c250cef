/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/table_check.h"

#include "base/clock.h"

/* Time between two checks of a table, ns, and limit of map calls in each */
#define CHECK_NS   (NS_PER_S / 4)
#define CHECK_MAPS (8 * TABLE_PLACES)

void table_check_free(struct table_check *check)
{
	unwind_table_free(check->hypercalls);
	unwind_table_free(check->moved);
}

static enum table_fit find_fit(struct table_check *check, const struct guest *guest,
			       const struct guest_memory *memory)
{
	enum table_fit fit = TABLE_UNSEEN;

	for (unsigned int i = 0; i < guest->info.vcpus && fit == TABLE_UNSEEN; i++)
		if (guest->vcpu[i].captured)
			fit = program_table_check(check->program, &guest->vcpu[i].cpu,
						  memory, &check->shift, &check->why);
	return fit;
}

static void find_hypercalls(struct table_check *check, const struct guest *guest,
			    const struct guest_memory *memory)
{
	for (unsigned int i = 0; i < guest->info.vcpus && !check->hypercalls; i++)
		if (guest->vcpu[i].captured)
			check->hypercalls = program_table_hypercalls(
				check->program, &guest->vcpu[i].cpu, memory);
}

/* Starts to use the table, which fits. False if out of memory. */
static bool use_table(struct table_check *check)
{
	check->table = check->program->table;
	if (check->shift) {
		check->moved = program_table_move(check->program, check->shift);
		check->table = check->moved;
	}
	if (check->table)
		return true;
	error_set(&check->why, "there is no memory for a table of its kernel");
	return false;
}

bool table_check_run(struct table_check *check, const struct guest *guest,
		     const struct guest_memory *memory, uint64_t now)
{
	bool is_pending = check->state == TABLE_PENDING;
	enum table_fit fit = TABLE_FITS;

	if (now < check->due ||
	    !(is_pending || (check->state == TABLE_USED && !check->hypercalls)))
		return false;
	check->due = now + CHECK_NS;
	guest->ops->begin_pages(guest->memory, now, CHECK_MAPS);
	if (is_pending)
		fit = find_fit(check, guest, memory);
	if (is_pending && fit == TABLE_FITS && !use_table(check))
		fit = TABLE_DIFFERS;
	if (fit == TABLE_FITS) {
		check->state = TABLE_USED;
		find_hypercalls(check, guest, memory);
	} else if (fit == TABLE_DIFFERS) {
		check->state = TABLE_REFUSED;
	}
	return is_pending && fit == TABLE_FITS;
}
