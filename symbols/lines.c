/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/table.h"

/* Of the units, or of one unit's functions. */
#define RANGES_MAX ((size_t)1 << 22)

/* How deep namespaces and classes, or the blocks of a function, may be nested. */
#define DEPTH_MAX 256

/*
 * Steps, a byte of DWARF or a range each, after which a file gets no more answers on
 * inlined functions: some minutes. A million addresses in real programs take less, but
 * made-up DWARF can ask for any number of them for each address.
 */
#define STEPS_MAX ((uint64_t)1 << 34)

/* From @from up to @to, addresses are those of the DIE at @die. */
struct range {
	uint64_t from, to;
	Dwarf_Off die;
	struct unit *unit; /* of units only */
};

struct ranges {
	struct range *list;
	size_t count, room;
};

/* A compilation unit, and its functions as soon as they are asked for. */
struct unit {
	bool is_read;
	struct ranges functions;
	struct unit *next;
};

struct symbols_lines {
	Elf *elf;
	Dwarf *dwarf;
	struct ranges units;
	struct unit *all;
	uint64_t steps;
};

static bool add_range(struct ranges *ranges, const struct range *range)
{
	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? ranges->room * 2 : 16;
		void *grown = room > RANGES_MAX ? NULL
						: realloc(ranges->list,
							  room * sizeof(*ranges->list));

		if (!grown)
			return false;
		ranges->list = grown;
		ranges->room = room;
	}
	ranges->list[ranges->count++] = *range;
	return true;
}

static int compare_ranges(const void *left, const void *right)
{
	const struct range *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	return (a->die > b->die) - (a->die < b->die);
}

static void sort(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list), compare_ranges);
}

/* The range that starts last before @address, if it holds it; else NULL. */
static struct range *find_range(const struct ranges *ranges, uint64_t address)
{
	size_t from = 0, to = ranges->count;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (ranges->list[middle].from <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || ranges->list[from - 1].to <= address)
		return NULL;
	return &ranges->list[from - 1];
}

static bool may_go_on(struct symbols_lines *lines, uint64_t steps)
{
	lines->steps += steps;
	return lines->steps < STEPS_MAX;
}

/* Goes to the next DIE of the same parent. */
static bool next_sibling(struct symbols_lines *lines, Dwarf_Die *die)
{
	Dwarf_Off from = dwarf_dieoffset(die);

	return !dwarf_siblingof(die, die) &&
	       may_go_on(lines, dwarf_dieoffset(die) - from);
}

/* Adds all that the DIE says of where it is. */
static bool add_die(struct symbols_lines *lines, struct ranges *ranges, Dwarf_Die *die,
		    struct unit *unit)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0 &&
	       may_go_on(lines, 1)) {
		struct range range = {from, to, dwarf_dieoffset(die), unit};

		if (from < to && !add_range(ranges, &range))
			return false;
	}
	return true;
}

static bool read_units(struct symbols_lines *lines)
{
	Dwarf_Off at = 0, next;
	size_t header_size;

	for (; !dwarf_nextcu(lines->dwarf, at, &next, &header_size, NULL, NULL, NULL);
	     at = next) {
		struct unit *unit;
		Dwarf_Die die;

		if (!dwarf_offdie(lines->dwarf, at + header_size, &die) ||
		    dwarf_tag(&die) != DW_TAG_compile_unit)
			continue;
		unit = calloc(1, sizeof(*unit));
		if (!unit)
			return false;
		unit->next = lines->all;
		lines->all = unit;
		if (!add_die(lines, &lines->units, &die, unit))
			return false;
	}
	sort(&lines->units);
	return lines->units.count > 0;
}

struct symbols_lines *symbols_lines_new(void *data, size_t size)
{
	struct symbols_lines *lines = calloc(1, sizeof(*lines));

	if (!lines)
		return NULL;
	elf_version(EV_CURRENT);
	lines->elf = elf_memory(data, size);
	if (lines->elf)
		lines->dwarf = dwarf_begin_elf(lines->elf, DWARF_C_READ, NULL);
	if (!lines->dwarf || !read_units(lines)) {
		symbols_lines_free(lines);
		return NULL;
	}
	return lines;
}

void symbols_lines_free(struct symbols_lines *lines)
{
	if (!lines)
		return;
	while (lines->all) {
		struct unit *unit = lines->all;

		lines->all = unit->next;
		free(unit->functions.list);
		free(unit);
	}
	free(lines->units.list);
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	free(lines);
}

/* Lists the functions among the DIE's children. */
static void read_functions(struct symbols_lines *lines, struct unit *unit,
			   Dwarf_Die *parent, int depth)
{
	Dwarf_Die die;

	if (depth > DEPTH_MAX || dwarf_child(parent, &die))
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_die(lines, &unit->functions, &die, NULL);
			break;
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
			read_functions(lines, unit, &die, depth + 1);
			break;
		}
	} while (next_sibling(lines, &die));
}

static bool is_block(int tag)
{
	return tag == DW_TAG_lexical_block || tag == DW_TAG_try_block ||
	       tag == DW_TAG_catch_block || tag == DW_TAG_inlined_subroutine;
}

static bool has_address(struct symbols_lines *lines, Dwarf_Die *die, uint64_t address)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0 && may_go_on(lines, 1))
		if (from <= address && address < to)
			return true;
	return false;
}

/* Goes to that child of @die which is a block around the address. */
static bool enter_block(struct symbols_lines *lines, Dwarf_Die *die, uint64_t address)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child))
		return false;
	do {
		if (is_block(dwarf_tag(&child)) && has_address(lines, &child, address)) {
			*die = child;
			return true;
		}
	} while (next_sibling(lines, &child));
	return false;
}

static const char *string_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	const char *text = dwarf_formstring(dwarf_attr_integrate(die, name, &attribute));

	return text && *text && strnlen(text, SYMBOLS_NAME_MAX + 1) <= SYMBOLS_NAME_MAX
		       ? text
		       : NULL;
}

static const char *function_of(Dwarf_Die *die)
{
	return string_of(die, DW_AT_linkage_name)
		       ?: string_of(die, DW_AT_MIPS_linkage_name)
		       ?: string_of(die, DW_AT_name)
		       ?: "[unknown]";
}

static Dwarf_Word number_of(Dwarf_Die *die, unsigned int name)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) ? 0 : value;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

/* Where the inlined function was called. */
static void set_call(struct symbol_line *line, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Word file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (!dwarf_getsrcfiles(unit, &files, &count) && file < count)
		line->file = base_name(dwarf_filesrc(files, file, NULL, NULL));
	line->line = (uint32_t)number_of(die, DW_AT_call_line);
}

/*
 * The blocks from the function inwards: each inlined function puts the line it was
 * called at below itself. @list's first entry is the address's own line.
 */
static size_t find_inlined(struct symbols_lines *lines, Dwarf_Die *unit, Dwarf_Off die,
			   uint64_t address, struct symbol_line *list)
{
	Dwarf_Die block;
	size_t count = 1;

	if (!may_go_on(lines, 0) || !dwarf_offdie(lines->dwarf, die, &block))
		return 1;
	for (int depth = 0; depth < DEPTH_MAX && enter_block(lines, &block, address);
	     depth++) {
		if (dwarf_tag(&block) != DW_TAG_inlined_subroutine)
			continue;
		if (count == SYMBOL_LINES_MAX)
			break;
		memmove(list + 2, list + 1, (count - 1) * sizeof(*list));
		list[1] = (struct symbol_line){.function = list[0].function};
		set_call(&list[1], unit, &block);
		list[0].function = function_of(&block);
		count++;
	}
	return count;
}

size_t symbols_lines_find(struct symbols_lines *lines, uint64_t address,
			  struct symbol_line list[SYMBOL_LINES_MAX])
{
	struct range *range = find_range(&lines->units, address), *function;
	Dwarf_Line *line;
	Dwarf_Die unit;
	int number;

	if (!range || !dwarf_offdie(lines->dwarf, range->die, &unit))
		return 0;
	list[0] = (struct symbol_line){0};
	line = dwarf_getsrc_die(&unit, address);
	if (line) {
		list[0].file = base_name(dwarf_linesrc(line, NULL, NULL));
		list[0].line = dwarf_lineno(line, &number) ? 0 : (uint32_t)number;
	}
	if (!range->unit->is_read) {
		read_functions(lines, range->unit, &unit, 0);
		sort(&range->unit->functions);
		range->unit->is_read = true;
	}
	function = find_range(&range->unit->functions, address);
	return function ? find_inlined(lines, &unit, function->die, address, list) : 1;
}
