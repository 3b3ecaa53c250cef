/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_DWARF_INLINED_H
#define UNIPROF_SYMBOLS_DWARF_INLINED_H

/* The functions of a compilation unit by address, including inlined ones; inside symbols/
 * only. */

#include <elfutils/libdw.h>
#include <stddef.h>
#include <stdint.h>

#define INLINED_NONE UINT32_MAX

/* A function, or a place where a function is inlined. */
struct inlined_function {
	Dwarf_Off die;
	uint32_t parent; /* function it is inlined into; INLINED_NONE: none */
};

struct inlined_range {
	uint64_t from, to;
	uint32_t function;
};

/* The functions of a unit by address. Starts zeroed. */
struct inlined {
	struct inlined_function *functions; /* functions in the order of the file */
	size_t count, room;
	struct inlined_range *ranges;
	size_t range_count, range_room;
	/* Addresses from places[i] up to the next one belong to owners[i], if any. */
	uint64_t *places;
	uint32_t *owners;
	size_t place_count;
};

/*
 * Reads the functions of the unit. *@budget is the number of functions and ranges still
 * allowed, and is reduced by the number read. Functions and ranges beyond it are skipped,
 * and damaged ones. If out of memory, the result is empty.
 */
void inlined_read(struct inlined *inlined, Dwarf_Die *unit, size_t *budget);
void inlined_free(struct inlined *inlined);

/* Returns the innermost function at the address, INLINED_NONE if there is none. If
 * functions that are not nested overlap there, the last one in the file wins, as in
 * LLVM. */
uint32_t inlined_find(const struct inlined *inlined, uint64_t address);

#endif
