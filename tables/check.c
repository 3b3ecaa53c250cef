/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/program_table.h"

#include <string.h>

#include "symbols/symbols.h"
#include "tables/spans.h"

/* KASLR moves a kernel by multiples of this upwards, at most up to LINUX_END (Linux,
 * arch/x86/boot/compressed/kaslr.c, find_random_virt_addr()). */
#define LINUX_ALIGN ((uint64_t)2 << 20)

static bool has_build_id(const struct table_origin *origin, uint64_t shift,
			 const struct cpu *cpu, const struct guest_memory *memory)
{
	uint8_t bytes[SYMBOLS_BUILD_ID];

	return origin->build_id_address &&
	       cpu_read(cpu, memory, origin->build_id_address + shift, bytes,
			origin->build_id_size) &&
	       memcmp(bytes, origin->build_id, origin->build_id_size) == 0;
}

/* Reads the place; false if it is missing. Increments *@same if it has the program's
 * code.
 */
static bool is_place_seen(const struct table_place *place, uint64_t shift,
			  const struct cpu *cpu, const struct guest_memory *memory,
			  size_t *same)
{
	uint8_t bytes[TABLE_PLACE_SIZE];

	if (!cpu_read(cpu, memory, place->address + shift, bytes, sizeof(bytes)))
		return false;
	*same += memcmp(bytes, place->bytes, sizeof(bytes)) == 0;
	return true;
}

/* Whether the number of places that were seen suffices to decide. */
static bool is_enough(const struct table_origin *origin, size_t seen)
{
	return seen && (seen >= TABLE_PLACES_ENOUGH || seen == origin->places);
}

/*
 * Compares a program with the code in the guest's memory. Kernels patch their own code,
 * and Xen fills in hypercall pages, so one place in ten may differ. In another build,
 * most code is at other addresses.
 */
static enum table_fit check_origin(const struct table_origin *origin, uint64_t shift,
				   const struct cpu *cpu,
				   const struct guest_memory *memory, struct error *why)
{
	size_t seen = 0, same = 0;

	if (has_build_id(origin, shift, cpu, memory))
		return TABLE_FITS;
	for (size_t i = 0; i < origin->places; i++)
		seen += is_place_seen(&origin->place[i], shift, cpu, memory, &same);
	if (!is_enough(origin, seen)) {
		error_set(why, "the code of %s was not found in its memory",
			  origin->name);
		return TABLE_UNSEEN;
	}
	if (10 * same >= 9 * seen)
		return TABLE_FITS;
	error_set(why,
		  "%s is of another build than the code in its memory, or loaded at "
		  "another address: they agree in %zu of %zu places",
		  origin->name, same, seen);
	return TABLE_DIFFERS;
}

/* Looks for the kernel at each address that KASLR may choose: at most 512 steps, most of
 * which end at an unmapped page. */
static bool find_linux(const struct table_origin *origin, const struct cpu *cpu,
		       const struct guest_memory *memory, uint64_t *shift)
{
	uint64_t start = origin->build_id_address - origin->home;

	if (!origin->linux_text || start < LINUX_START)
		return false;
	for (uint64_t i = LINUX_ALIGN; start + i < LINUX_END; i += LINUX_ALIGN) {
		if (!has_build_id(origin, i - origin->home, cpu, memory))
			continue;
		*shift = i - origin->home;
		return true;
	}
	return false;
}

/* Limits of a search for a program that was moved: addresses, pages of its code that are
 * compared with each, and moves that are tried */
#define MOVED_ADDRESSES 16
#define MOVED_PAGES	((uint64_t)1 << 14)
#define MOVED_TRIES	16

/* A search for a program by the code that a vCPU executes. */
struct moved_search {
	const struct table_origin *origin;
	const struct program *program;
	const struct cpu *cpu;
	const struct guest_memory *memory;
	uint64_t pages, tries; /* left */
	uint64_t shift;	       /* the result */
};

/* Tries each page of the range whose code is that of the guest at @address. True if the
 * program is there. */
static bool search_range(struct moved_search *search, const struct code_range *range,
			 uint64_t address, const uint8_t *bytes)
{
	uint64_t start = range->address + search->program->offset;
	uint64_t at = (address - start) & (GUEST_PAGE_SIZE - 1);

	for (; at + TABLE_PLACE_SIZE <= range->size && search->pages && search->tries;
	     at += GUEST_PAGE_SIZE) {
		struct error ignored;

		search->pages--;
		if (memcmp(range->bytes + at, bytes, TABLE_PLACE_SIZE) != 0)
			continue;
		search->tries--;
		search->shift = address - (start + at);
		if (check_origin(search->origin, search->shift, search->cpu,
				 search->memory, &ignored) == TABLE_FITS)
			return true;
	}
	return false;
}

/* Looks for the program by the code around @address. */
static bool search_at(struct moved_search *search, uint64_t address)
{
	const struct program *program = search->program;
	uint8_t bytes[TABLE_PLACE_SIZE];

	address &= ~(uint64_t)(TABLE_PLACE_SIZE - 1);
	if (!cpu_read(search->cpu, search->memory, address, bytes, sizeof(bytes)))
		return false;
	search->pages = MOVED_PAGES;
	for (size_t i = 0; i < program->code_count; i++)
		if (search_range(search, &program->code[i], address, bytes))
			return true;
	return false;
}

/* Whether the guest may have moved the program with this @number. A Linux kernel is found
 * by its build-id, and its code is not kept. */
static bool is_movable(const struct program_table *table, size_t number)
{
	return table->program && !table->origin[number].linux_text &&
	       !table->program[number].has_offset;
}

/* Looks for a program that the guest may have moved. */
static bool find_moved(const struct placed_table *placed, size_t number,
		       const struct cpu *cpu, const struct guest_memory *memory,
		       const uint64_t *addresses, size_t count, uint64_t *shift)
{
	const struct program_table *table = placed->table;
	struct moved_search search = {
		.origin = &table->origin[number],
		.cpu = cpu,
		.memory = memory,
		.tries = MOVED_TRIES,
	};

	if (!is_movable(table, number))
		return false;
	search.program = &table->program[number];
	for (size_t i = 0; i < count && i < MOVED_ADDRESSES; i++) {
		if (!search_at(&search, addresses[i]))
			continue;
		*shift = search.shift;
		return true;
	}
	return false;
}

/* Returns the programs that the guest has at the address of the program with this
 * @number, a bit each. */
static uint64_t find_others(const struct placed_table *placed, size_t number)
{
	uint64_t others = 0;

	for (size_t i = 0; i < placed->table->origins; i++)
		if (i != number && placed->is_found[i] &&
		    table_spans_overlap(placed, number, i, 1))
			others |= (uint64_t)1 << i;
	return others;
}

/* Whether the program is in the address space. Ends as soon as it can't be. */
static bool is_here(const struct table_origin *origin, uint64_t shift,
		    const struct cpu *cpu, const struct guest_memory *memory)
{
	size_t seen = 0, same = 0;

	if (has_build_id(origin, shift, cpu, memory))
		return true;
	for (size_t i = 0; i < origin->places && 10 * (seen - same) <= origin->places;
	     i++)
		seen += is_place_seen(&origin->place[i], shift, cpu, memory, &same);
	return is_enough(origin, seen) && 10 * same >= 9 * seen;
}

/* Returns which of the @programs, all of which were found, the address space has at the
 * place where they were found first. */
static uint64_t find_here(const struct placed_table *placed, uint64_t programs,
			  const struct cpu *cpu, const struct guest_memory *memory)
{
	uint64_t here = 0;

	for (size_t i = 0; i < placed->table->origins; i++)
		if (programs >> i & 1 &&
		    is_here(&placed->table->origin[i], placed->shift[i], cpu, memory))
			here |= (uint64_t)1 << i;
	return here;
}

/* Returns the programs that were found where programs of Linux are, a bit each. A table
 * that is not separable is used as a whole. */
static uint64_t find_movable(const struct placed_table *placed)
{
	const struct program_table *table = placed->table;
	uint64_t programs = 0;

	for (size_t i = 0; i < table->origins && program_table_is_separable(table); i++) {
		const struct table_origin *origin = &table->origin[i];

		if (placed->is_found[i] && origin->high && !origin->linux_text &&
		    origin->low + placed->shift[i] < KERNEL_START)
			programs |= (uint64_t)1 << i;
	}
	return programs;
}

/* Whether the program is in the address space at a place of its own: where it was lately,
 * by *@shift, or where the code at the addresses leads. Sets *@shift. */
static bool is_elsewhere(const struct placed_table *placed, size_t number,
			 const struct cpu *cpu, const struct guest_memory *memory,
			 const uint64_t *addresses, size_t count, uint64_t *shift)
{
	return is_movable(placed->table, number) &&
	       ((*shift != placed->shift[number] &&
		 is_here(&placed->table->origin[number], *shift, cpu, memory)) ||
		find_moved(placed, number, cpu, memory, addresses, count, shift));
}

void placed_table_in(const struct placed_table *placed, const struct cpu *cpu,
		     const struct guest_memory *memory, const uint64_t *addresses,
		     size_t count, struct placed_table *here)
{
	uint64_t movable = find_movable(placed), varying = movable | placed->rivals;
	uint64_t found = find_here(placed, varying, cpu, memory);
	uint64_t user[MOVED_ADDRESSES];
	size_t users = 0;

	/* Those of a kernel lead to no program. */
	for (size_t i = 0; i < count && users < MOVED_ADDRESSES; i++)
		if (addresses[i] < KERNEL_START)
			user[users++] = addresses[i];
	here->table = placed->table;
	for (size_t i = 0; i < placed->table->origins; i++) {
		here->is_found[i] = placed->is_found[i] && ((found | ~varying) >> i & 1);
		if (here->is_found[i])
			here->shift[i] = placed->shift[i];
		else if (movable >> i & 1)
			here->is_found[i] = is_elsewhere(placed, i, cpu, memory, user,
							 users, &here->shift[i]);
	}
}

bool placed_table_has(const struct placed_table *placed, size_t number, uint64_t shift)
{
	return placed->is_found[number] && placed->shift[number] == shift;
}

bool placed_table_is_equal(const struct placed_table *a, const struct placed_table *b)
{
	for (size_t i = 0; i < a->table->origins; i++)
		if (a->is_found[i] ? !placed_table_has(b, i, a->shift[i])
				   : b->is_found[i])
			return false;
	return true;
}

bool placed_table_varies(const struct placed_table *placed)
{
	return placed->rivals || find_movable(placed);
}

enum table_fit placed_table_find(struct placed_table *placed, size_t number,
				 const struct cpu *cpu, const struct guest_memory *memory,
				 const uint64_t *addresses, size_t count,
				 struct error *why)
{
	const struct program_table *table = placed->table;
	const struct table_origin *origin = &table->origin[number];
	uint64_t *shift = &placed->shift[number], others = 0, here = 0;
	enum cpu_kind kind = cpu_kind(cpu);
	enum table_fit fit;

	if (kind != table->cpu) {
		error_set(why, "%s is for %s, but it runs on %s", origin->name,
			  cpu_kind_name(table->cpu), cpu_kind_name(kind));
		/* A guest that boots may still be in 32-bit mode. */
		return cpu_kinds_are_related(kind, table->cpu) ? TABLE_UNSEEN
							       : TABLE_FOREIGN;
	}
	*shift = -origin->home;
	fit = check_origin(origin, *shift, cpu, memory, why);
	if (fit != TABLE_FITS &&
	    (find_linux(origin, cpu, memory, shift) ||
	     find_moved(placed, number, cpu, memory, addresses, count, shift)))
		fit = TABLE_FITS;
	if (fit != TABLE_UNSEEN && program_table_is_separable(table)) {
		others = find_others(placed, number);
		here = find_here(placed, others, cpu, memory);
	}
	if (fit != TABLE_FITS)
		return here ? TABLE_RIVALED : fit;
	if (here) {
		error_set(why, "it is at the same address as %s",
			  table->origin[__builtin_ctzll(here)].name);
		return TABLE_TAKEN;
	}
	if (others)
		placed->rivals |= others | (uint64_t)1 << number;
	placed->is_found[number] = true;
	return TABLE_FITS;
}
