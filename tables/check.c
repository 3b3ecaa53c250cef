/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/program_table.h"

#include <string.h>

#include "symbols/symbols.h"
#include "tables/build.h"

/* Number of places that suffice to decide; a small program has fewer, which must all be
 * seen. */
#define PLACES_ENOUGH 8

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
	for (size_t i = 0; i < origin->places; i++) {
		const struct table_place *place = &origin->place[i];
		uint8_t bytes[TABLE_PLACE_SIZE];

		if (!cpu_read(cpu, memory, place->address + shift, bytes, sizeof(bytes)))
			continue;
		seen++;
		same += memcmp(bytes, place->bytes, sizeof(bytes)) == 0;
	}
	if (!seen || (seen < PLACES_ENOUGH && seen < origin->places)) {
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
	uint64_t start = origin->build_id_address;

	if (!origin->linux_text || start < LINUX_START)
		return false;
	for (uint64_t i = LINUX_ALIGN; start + i < LINUX_END; i += LINUX_ALIGN) {
		if (!has_build_id(origin, i, cpu, memory))
			continue;
		*shift = i;
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

bool program_table_is_movable(const struct program_table *table)
{
	for (size_t i = 0; i < table->origins; i++)
		if (is_movable(table, i))
			return true;
	return false;
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

enum table_fit placed_table_find(struct placed_table *placed, const struct cpu *cpu,
				 const struct guest_memory *memory,
				 const uint64_t *addresses, size_t count,
				 struct error *why)
{
	const struct program_table *table = placed->table;
	enum cpu_kind kind = cpu_kind(cpu);
	enum table_fit worst = TABLE_FITS;

	if (kind != table->cpu) {
		error_set(why, "%s is for %s, but it runs on %s", table->origin[0].name,
			  cpu_kind_name(table->cpu), cpu_kind_name(kind));
		/* A guest that boots may still be in 32-bit mode. */
		return cpu_kinds_are_related(kind, table->cpu) ? TABLE_UNSEEN
							       : TABLE_DIFFERS;
	}
	for (size_t i = 0; i < table->origins; i++) {
		const struct table_origin *origin = &table->origin[i];
		uint64_t *shift = &placed->shift[i];
		struct error reason;
		enum table_fit fit;

		if (placed->is_found[i])
			continue;
		*shift = -origin->home;
		fit = check_origin(origin, *shift, cpu, memory, &reason);
		placed->is_found[i] = fit == TABLE_FITS ||
				      find_linux(origin, cpu, memory, shift) ||
				      find_moved(placed, i, cpu, memory, addresses, count,
						 shift);
		if (placed->is_found[i] || worst == TABLE_DIFFERS)
			continue;
		worst = fit;
		*why = reason;
	}
	return worst;
}

bool placed_table_is_plain(const struct placed_table *placed)
{
	for (size_t i = 0; i < placed->table->origins; i++)
		if (placed->shift[i])
			return false;
	return true;
}

struct unwind_table *placed_table_make(const struct placed_table *placed)
{
	const struct program_table *table = placed->table;
	struct table_move moves[TABLE_ORIGINS];
	struct unwind_table *made;

	for (size_t i = 0; i < table->origins; i++) {
		const struct table_origin *origin = &table->origin[i];

		moves[i] = (struct table_move){origin->low, origin->high,
					       placed->shift[i]};
		if (origin->linux_text)
			moves[i] = (struct table_move){LINUX_START, LINUX_END,
						       placed->shift[i]};
	}
	made = unwind_table_move(table->table, moves, table->origins);
	if (made && unwind_table_lock(made) == 0)
		return made;
	unwind_table_free(made);
	return NULL;
}

uint64_t placed_table_move(const struct placed_table *placed, size_t program)
{
	return placed->shift[program] + placed->table->origin[program].home;
}

uint64_t placed_table_linux_shift(const struct placed_table *placed)
{
	for (size_t i = 0; i < placed->table->origins; i++)
		if (placed->table->origin[i].linux_text)
			return placed->shift[i];
	return 0;
}
