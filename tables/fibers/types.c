/* SPDX-License-Identifier: BSD-3-Clause */
#include "tables/fibers/types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

/* Maximum number of DIEs that are looked at for a file, and for a member */
#define DIES_MAX    20000000
#define MEMBERS_MAX 4096

/* Maximum number of typedefs and qualifiers of a member's type */
#define WRAPS_MAX 16

/* Maximum number of structs that are remembered */
#define STRUCTS_MAX 8

struct fiber_types {
	Dwarf *dwarf;
	/* structs that were asked for */
	struct {
		char name[32];
		Dwarf_Die die;
		bool is_found;
	} known[STRUCTS_MAX];
	size_t count;
};

struct fiber_types *fiber_types_open(Elf *elf)
{
	Dwarf *dwarf = dwarf_begin_elf(elf, DWARF_C_READ, NULL);
	struct fiber_types *types = dwarf ? calloc(1, sizeof(*types)) : NULL;

	if (types)
		types->dwarf = dwarf;
	else
		dwarf_end(dwarf);
	return types;
}

void fiber_types_close(struct fiber_types *types)
{
	if (types)
		dwarf_end(types->dwarf);
	free(types);
}

static bool has_name(Dwarf_Die *die, const char *name)
{
	const char *own = dwarf_diename(die);

	return own && strcmp(own, name) == 0;
}

/* Finds a definition of the struct among the types of the file's units. */
static bool find_struct(Dwarf *dwarf, const char *name, Dwarf_Die *found)
{
	unsigned int budget = DIES_MAX;
	Dwarf_Off at = 0, next;
	size_t header_size;

	for (; !dwarf_nextcu(dwarf, at, &next, &header_size, NULL, NULL, NULL) && budget;
	     at = next, budget--) {
		Dwarf_Die unit;

		if (!dwarf_offdie(dwarf, at + header_size, &unit) ||
		    dwarf_child(&unit, found) != 0)
			continue;
		do {
			if (dwarf_tag(found) == DW_TAG_structure_type &&
			    has_name(found, name) &&
			    !dwarf_hasattr(found, DW_AT_declaration))
				return true;
		} while (--budget && dwarf_siblingof(found, found) == 0);
		if (!budget)
			return false;
	}
	return false;
}

static Dwarf_Die *struct_of(struct fiber_types *types, const char *name)
{
	size_t i = 0;

	while (i < types->count && strcmp(types->known[i].name, name) != 0)
		i++;
	if (i == types->count) {
		if (i == STRUCTS_MAX || strlen(name) >= sizeof(types->known[i].name))
			return NULL;
		strcpy(types->known[i].name, name);
		types->known[i].is_found = find_struct(types->dwarf, name,
						       &types->known[i].die);
		types->count++;
	}
	return types->known[i].is_found ? &types->known[i].die : NULL;
}

bool fiber_types_have(struct fiber_types *types, const char *type)
{
	return struct_of(types, type);
}

static bool die_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	if (!dwarf_attr(member, DW_AT_data_member_location, &attribute) ||
	    dwarf_formudata(&attribute, &value) != 0)
		return false;
	*offset += value;
	return true;
}

/* Finds the member whose name has this length. */
static bool find_member(Dwarf_Die *type, const char *name, size_t length,
			Dwarf_Die *member)
{
	unsigned int budget = MEMBERS_MAX;

	if (dwarf_child(type, member) != 0)
		return false;
	do {
		const char *own = dwarf_tag(member) == DW_TAG_member
					  ? dwarf_diename(member)
					  : NULL;

		if (own && strlen(own) == length && memcmp(own, name, length) == 0)
			return true;
	} while (--budget && dwarf_siblingof(member, member) == 0);
	return false;
}

/* Follows the member's type to the struct that it is. */
static bool type_of(Dwarf_Die *member, Dwarf_Die *type)
{
	Dwarf_Die at = *member;

	for (int i = 0; i < WRAPS_MAX; i++) {
		Dwarf_Attribute attribute;

		if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, type))
			return false;
		if (dwarf_tag(type) == DW_TAG_structure_type)
			return true;
		if (dwarf_tag(type) == DW_TAG_pointer_type)
			return false;
		at = *type;
	}
	return false;
}

bool fiber_types_member(struct fiber_types *types, const char *type, const char *member,
			uint64_t *offset)
{
	Dwarf_Die *known = struct_of(types, type);
	Dwarf_Die at;

	if (!known)
		return false;
	at = *known;
	*offset = 0;
	for (;;) {
		size_t length = strcspn(member, ".");
		Dwarf_Die found;

		if (!find_member(&at, member, length, &found) ||
		    !die_offset(&found, offset))
			return false;
		if (!member[length])
			return true;
		if (!type_of(&found, &at))
			return false;
		member += length + 1;
	}
}
