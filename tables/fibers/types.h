/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_FIBERS_TYPES_H
#define UNIPROF_TABLES_FIBERS_TYPES_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The structs of a file with DWARF. Nothing in it is trusted. */
struct fiber_types;

/* Returns the types of @elf, which must stay open; NULL if it has none. */
struct fiber_types *fiber_types_open(Elf *elf);
void fiber_types_close(struct fiber_types *types);

/* Whether the file has a struct with the name. */
bool fiber_types_have(struct fiber_types *types, const char *type);

/* Sets *@offset to the offset in bytes of @member in the struct called @type; "a.b" is
 * the member b of the struct that is the member a. False if there is none. */
bool fiber_types_member(struct fiber_types *types, const char *type, const char *member,
			uint64_t *offset);

#endif
