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
static enum table_fit check_origin(const struct table_origin *origin,
				   const struct cpu *cpu,
				   const struct guest_memory *memory, struct error *why)
{
	size_t seen = 0, same = 0;

	if (has_build_id(origin, 0, cpu, memory))
		return TABLE_FITS;
	for (size_t i = 0; i < origin->places; i++) {
		const struct table_place *place = &origin->place[i];
		uint8_t bytes[TABLE_PLACE_SIZE];

		if (!cpu_read(cpu, memory, place->address, bytes, sizeof(bytes)))
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

enum table_fit program_table_check(const struct program_table *table,
				   const struct cpu *cpu,
				   const struct guest_memory *memory, uint64_t *shift,
				   struct error *why)
{
	enum cpu_kind kind = cpu_kind(cpu);
	enum table_fit worst = TABLE_FITS;

	*shift = 0;
	if (kind != table->cpu) {
		error_set(why, "%s is for %s, but it runs on %s", table->origin[0].name,
			  cpu_kind_name(table->cpu), cpu_kind_name(kind));
		/* A guest that boots may still be in 32-bit mode. */
		return cpu_kinds_are_related(kind, table->cpu) ? TABLE_UNSEEN
							       : TABLE_DIFFERS;
	}
	for (size_t i = 0; i < table->origins && worst != TABLE_DIFFERS; i++) {
		struct error reason;
		enum table_fit fit = check_origin(&table->origin[i], cpu, memory,
						  &reason);

		if (fit == TABLE_FITS ||
		    find_linux(&table->origin[i], cpu, memory, shift))
			continue;
		worst = fit;
		*why = reason;
	}
	return worst;
}

struct unwind_table *program_table_move(const struct program_table *table, uint64_t shift)
{
	struct unwind_table *moved = unwind_table_move(table->table, LINUX_START,
						       LINUX_END, shift);

	if (moved && unwind_table_lock(moved) == 0)
		return moved;
	unwind_table_free(moved);
	return NULL;
}
