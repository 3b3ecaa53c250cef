/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/learning/spaces.h"

#include "base/clock.h"

/* Time until an address space is looked at again, ns */
#define AGAIN_NS (2 * NS_PER_S)

void spaces_free(struct spaces *spaces)
{
	for (size_t i = 0; i < spaces->tables; i++)
		unwind_table_free(spaces->table[i].table);
	*spaces = (struct spaces){0};
}

static bool is_used(const struct spaces *spaces, const struct unwind_table *table)
{
	for (size_t i = 0; i < spaces->count; i++)
		if (spaces->list[i].table == table)
			return true;
	return false;
}

/* Returns room for another table: of one that no space has any more, if need be. NULL:
 * there are too many. */
static struct spaces_table *table_room(struct spaces *spaces)
{
	if (spaces->tables < SPACES_TABLES_MAX)
		return &spaces->table[spaces->tables++];
	for (size_t i = 0; i < spaces->tables; i++) {
		struct spaces_table *old = &spaces->table[i];

		if (old->table && is_used(spaces, old->table))
			continue;
		unwind_table_free(old->table);
		old->table = NULL;
		return old;
	}
	return NULL;
}

/* Returns the table for an address space with the programs of @here; NULL if that for all
 * other spaces is right, if there is no memory, or if there are too many. */
static const struct unwind_table *table_for(struct spaces *spaces,
					    const struct placed_table *placed,
					    const struct placed_table *here)
{
	const struct placed_table common = placed_table_common(placed);
	struct spaces_table *made;

	if (placed_table_is_equal(here, &common))
		return NULL;
	for (size_t i = 0; i < spaces->tables; i++)
		if (spaces->table[i].table &&
		    placed_table_is_equal(here, &spaces->table[i].placed))
			return spaces->table[i].table;
	made = table_room(spaces);
	if (!made)
		return NULL;
	*made = (struct spaces_table){*here, placed_table_make_locked(here)};
	return made->table;
}

/* Returns the number of the address space: a new one, or that of the space that was not
 * looked at for longest, if it has none. */
static size_t number_of(struct spaces *spaces, uint64_t space)
{
	size_t oldest = 0;

	for (size_t i = 0; i < spaces->count; i++) {
		if (spaces->list[i].space == space)
			return i;
		if (spaces->facts[i].due < spaces->facts[oldest].due)
			oldest = i;
	}
	if (spaces->count < SPACES_MAX)
		oldest = spaces->count++;
	spaces->list[oldest] = (struct unwind_space){.space = space};
	spaces->facts[oldest] = (struct space_facts){0};
	return oldest;
}

/* Returns the programs that an address space has, @here, where @placed has them, too. */
static uint64_t unmoved_programs(const struct placed_table *placed,
				 const struct placed_table *here)
{
	uint64_t programs = 0;

	for (size_t i = 0; i < placed->table->origins; i++)
		programs |= (uint64_t)placed_table_has(here, i, placed->shift[i]) << i;
	return programs;
}

bool spaces_look(struct spaces *spaces, const struct placed_table *placed,
		 const struct guest *guest, const struct guest_memory *memory,
		 const struct round *round)
{
	bool is_new = false;

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct cpu *cpu = &guest->vcpu[i].cpu;
		const struct unwind_table *table;
		struct space_facts *facts;
		struct chain chain;
		size_t number;

		if (!guest->vcpu[i].captured)
			continue;
		number = number_of(spaces, cpu_space(cpu));
		facts = &spaces->facts[number];
		if (round->time < facts->due)
			continue;
		facts->due = round->time + AGAIN_NS;
		chain = round_chain(round, i);
		placed_table_in(placed, cpu, memory, chain.address, chain.count,
				&facts->here);
		facts->programs = unmoved_programs(placed, &facts->here);
		table = table_for(spaces, placed, &facts->here);
		is_new |= table != spaces->list[number].table;
		spaces->list[number].table = table;
	}
	return is_new;
}

/* Returns what is known of the address space; NULL if it was never looked at. */
static const struct space_facts *facts_of(const struct spaces *spaces, uint64_t space)
{
	for (size_t i = 0; i < spaces->count; i++)
		if (spaces->list[i].space == space && spaces->facts[i].due)
			return &spaces->facts[i];
	return NULL;
}

const struct placed_table *spaces_placed(const struct spaces *spaces, uint64_t space)
{
	const struct space_facts *facts = facts_of(spaces, space);

	return facts ? &facts->here : NULL;
}

uint64_t spaces_programs(const struct spaces *spaces, uint64_t space)
{
	const struct space_facts *facts = facts_of(spaces, space);

	return facts ? facts->programs : UINT64_MAX;
}

size_t spaces_rivals(const struct spaces *spaces, const struct placed_table *placed,
		     struct rival_space *list, size_t most)
{
	size_t count = 0;
	uint64_t found = 0; /* programs before this one */

	for (size_t i = 0; placed->rivals && i < placed->table->origins; i++) {
		for (size_t j = 0; j < spaces->count && count < most; j++)
			if (placed->rivals >> i & 1 && spaces->facts[j].due &&
			    spaces->facts[j].here.is_found[i])
				list[count++] = (struct rival_space){
					found, spaces->list[j].space};
		found += placed->is_found[i];
	}
	return count;
}
