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

/* Returns the table for an address space with these programs; NULL if that for all other
 * spaces is right, if there is no memory, or if there are too many. */
static const struct unwind_table *
table_for(struct spaces *spaces, const struct placed_table *placed, uint64_t programs)
{
	struct spaces_table *made = spaces->table;

	if (programs == placed_table_common(placed))
		return NULL;
	for (; made < spaces->table + spaces->tables; made++)
		if (made->programs == programs)
			return made->table;
	if (spaces->tables == SPACES_TABLES_MAX)
		return NULL;
	*made = (struct spaces_table){programs, placed_table_make(placed, programs)};
	spaces->tables += made->table != NULL;
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
		if (spaces->due[i] < spaces->due[oldest])
			oldest = i;
	}
	if (spaces->count < SPACES_MAX)
		oldest = spaces->count++;
	spaces->list[oldest] = (struct unwind_space){.space = space};
	spaces->programs[oldest] = UINT64_MAX;
	spaces->due[oldest] = 0;
	return oldest;
}

bool spaces_look(struct spaces *spaces, const struct placed_table *placed,
		 const struct guest *guest, const struct guest_memory *memory,
		 uint64_t now)
{
	bool is_new = false;

	for (unsigned int i = 0; i < guest->info.vcpus; i++) {
		const struct cpu *cpu = &guest->vcpu[i].cpu;
		const struct unwind_table *table;
		size_t number;

		if (!guest->vcpu[i].captured)
			continue;
		number = number_of(spaces, cpu_space(cpu));
		if (now < spaces->due[number])
			continue;
		spaces->due[number] = now + AGAIN_NS;
		spaces->programs[number] = placed_table_in(placed, cpu, memory);
		table = table_for(spaces, placed, spaces->programs[number]);
		is_new |= table != spaces->list[number].table;
		spaces->list[number].table = table;
	}
	return is_new;
}

uint64_t spaces_programs(const struct spaces *spaces, uint64_t space)
{
	for (size_t i = 0; i < spaces->count; i++)
		if (spaces->list[i].space == space)
			return spaces->programs[i];
	return UINT64_MAX;
}

size_t spaces_rivals(const struct spaces *spaces, const struct placed_table *placed,
		     struct rival_space *list, size_t most)
{
	size_t count = 0;
	uint64_t found = 0; /* programs before this one */

	for (size_t i = 0; placed->rivals && i < placed->table->origins; i++) {
		for (size_t j = 0; j < spaces->count && count < most; j++)
			if ((placed->rivals & spaces->programs[j]) >> i & 1 &&
			    spaces->due[j])
				list[count++] = (struct rival_space){
					found, spaces->list[j].space};
		found += placed->is_found[i];
	}
	return count;
}
