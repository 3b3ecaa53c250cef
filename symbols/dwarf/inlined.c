/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/dwarf/inlined.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Maximum nesting depth of namespaces, classes, functions and blocks */
#define DEPTH_MAX 256

struct walk {
	struct inlined *inlined;
	size_t *budget;
	Dwarf_Off seen; /* offset of the last DIE visited */
};

static bool budget_take(size_t *budget)
{
	return *budget && (*budget)--;
}

/* Returns the array with space for one more element; NULL if out of memory, with the
 * array unchanged. */
static void *array_reserve(void *array, size_t *room, size_t count, size_t size)
{
	size_t larger = *room ? *room * 2 : 16;
	void *grown;

	if (count < *room)
		return array;
	grown = larger <= SIZE_MAX / size ? realloc(array, larger * size) : NULL;
	if (grown)
		*room = larger;
	return grown;
}

/* Adds a function. Returns its index; INLINED_NONE if it can't be added. */
static uint32_t add_function(struct walk *walk, Dwarf_Off die, uint32_t parent)
{
	struct inlined *inlined = walk->inlined;
	struct inlined_function *grown;

	if (inlined->count == INLINED_NONE || !budget_take(walk->budget))
		return INLINED_NONE;
	grown = array_reserve(inlined->functions, &inlined->room, inlined->count,
			      sizeof(*grown));
	if (!grown)
		return INLINED_NONE;
	inlined->functions = grown;
	grown[inlined->count] = (struct inlined_function){die, parent};
	return (uint32_t)inlined->count++;
}

static void add_ranges(struct walk *walk, Dwarf_Die *die, uint32_t function)
{
	struct inlined *inlined = walk->inlined;
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0 &&
	       budget_take(walk->budget)) {
		struct inlined_range *grown;

		if (from >= to)
			continue;
		grown = array_reserve(inlined->ranges, &inlined->range_room,
				      inlined->range_count, sizeof(*grown));
		if (!grown)
			return;
		inlined->ranges = grown;
		grown[inlined->range_count++] = (struct inlined_range){from, to,
								       function};
	}
}

/*
 * Returns whether DIEs with the tag may contain functions. A local class or a lambda's
 * class is in the block that defines it; a nested function of GCC's is in the function
 * around it.
 */
static bool is_scope(int tag)
{
	switch (tag) {
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
		return true;
	}
	return false;
}

/*
 * Adds the functions below the DIE, which are inlined into @function or nested in it. In
 * a valid tree, each DIE comes after the previous one; forged sibling links that point
 * back could make the walk visit the same DIEs 2^DEPTH_MAX times. False if the walk
 * should stop.
 */
static bool walk_below(struct walk *walk, Dwarf_Die *parent, uint32_t function, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX)
		return false;
	if (dwarf_child(parent, &die))
		return true;
	do {
		uint32_t inner = function;
		int tag = dwarf_tag(&die);

		if (dwarf_dieoffset(&die) <= walk->seen)
			return false;
		walk->seen = dwarf_dieoffset(&die);
		if (!is_scope(tag))
			continue;
		if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) {
			inner = add_function(walk, walk->seen,
					     tag == DW_TAG_subprogram ? INLINED_NONE
								      : function);
			if (inner == INLINED_NONE)
				return false;
			add_ranges(walk, &die, inner);
		}
		if (!walk_below(walk, &die, inner, depth + 1))
			return false;
	} while (!dwarf_siblingof(&die, &die));
	return true;
}

static int compare_places(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Returns the last place at or before @address; there must be one. */
static size_t place_of(const struct inlined *inlined, uint64_t address)
{
	size_t at = 0;

	for (size_t count = inlined->place_count; count > 1;) {
		size_t half = count / 2;

		if (inlined->places[at + half] <= address)
			at += half;
		count -= half;
	}
	return at;
}

/* Returns the first place at or after @place without an owner. @free_from[i] is i or,
 * once place i has an owner, a later place at which the search continues. */
static uint32_t next_free(uint32_t *free_from, uint32_t place)
{
	while (free_from[place] != place) {
		free_from[place] = free_from[free_from[place]];
		place = free_from[place];
	}
	return place;
}

/* Lists the starts and ends of all ranges, without duplicates; false if out of memory. */
static bool list_places(struct inlined *inlined)
{
	size_t count = 2 * inlined->range_count, distinct = 0;
	uint64_t *places = calloc(count, sizeof(*places));

	if (!places)
		return false;
	for (size_t i = 0; i < inlined->range_count; i++) {
		places[2 * i] = inlined->ranges[i].from;
		places[2 * i + 1] = inlined->ranges[i].to;
	}
	qsort(places, count, sizeof(*places), compare_places);
	for (size_t i = 0; i < count; i++)
		if (!distinct || places[i] != places[distinct - 1])
			places[distinct++] = places[i];
	inlined->places = places;
	inlined->place_count = distinct;
	return true;
}

/* Assigns each place to the last function that contains it: ranges are handled last to
 * first, and each takes the places that are still free. */
static bool give_places(struct inlined *inlined)
{
	uint32_t count = (uint32_t)inlined->place_count;
	uint32_t *free_from = calloc(count + 1, sizeof(*free_from));

	inlined->owners = calloc(count, sizeof(*inlined->owners));
	if (!free_from || !inlined->owners) {
		free(free_from);
		return false;
	}
	for (uint32_t i = 0; i <= count; i++)
		free_from[i] = i;
	for (uint32_t i = 0; i < count; i++)
		inlined->owners[i] = INLINED_NONE;
	for (size_t i = inlined->range_count; i-- > 0;) {
		const struct inlined_range *range = &inlined->ranges[i];
		uint32_t place = (uint32_t)place_of(inlined, range->from);

		while ((place = next_free(free_from, place)) < count &&
		       inlined->places[place] < range->to) {
			inlined->owners[place] = range->function;
			free_from[place] = place + 1;
		}
	}
	free(free_from);
	return true;
}

void inlined_read(struct inlined *inlined, Dwarf_Die *unit, size_t *budget)
{
	struct walk walk = {inlined, budget, dwarf_dieoffset(unit)};

	walk_below(&walk, unit, INLINED_NONE, 0);
	if (inlined->range_count && (!list_places(inlined) || !give_places(inlined)))
		inlined->place_count = 0;
	free(inlined->ranges);
	inlined->ranges = NULL;
	inlined->range_count = inlined->range_room = 0;
}

void inlined_free(struct inlined *inlined)
{
	free(inlined->functions);
	free(inlined->ranges);
	free(inlined->places);
	free(inlined->owners);
	*inlined = (struct inlined){0};
}

uint32_t inlined_find(const struct inlined *inlined, uint64_t address)
{
	if (!inlined->place_count || address < inlined->places[0])
		return INLINED_NONE;
	return inlined->owners[place_of(inlined, address)];
}
