/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/dwarf/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbols/dwarf/inlined.h"
#include "symbols/table.h"
#include "symbols/elf/unpack.h"

/*
 * Maximum number of functions and address ranges in a file, plus one for each four bytes
 * of the file. Compilers stay far below it; in a hostile file, many DIEs can share one
 * list of ranges.
 */
#define BUDGET ((size_t)1 << 20)

/* Addresses from @from up to @to, which belong to the unit whose DIE is at @die. */
struct range {
	uint64_t from, to;
	Dwarf_Off die;
	struct unit *unit;
};

struct ranges {
	struct range *list;
	size_t count, room;
};

/* A compilation unit. Its functions are read when first needed. */
struct unit {
	bool is_read;
	struct inlined inlined;
	struct unit *next;
};

struct symbols_lines {
	Elf *elf;
	Dwarf *dwarf;
	struct ranges units;
	struct unit *all;
	size_t budget; /* functions and ranges still allowed (BUDGET) */
};

static bool add_range(struct ranges *ranges, const struct range *range)
{
	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? ranges->room * 2 : 16;

		if (!array_grow(&ranges->list, room, sizeof(*ranges->list)))
			return false;
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

static void ranges_sort(struct ranges *ranges)
{
	if (ranges->count)
		qsort(ranges->list, ranges->count, sizeof(*ranges->list), compare_ranges);
}

/* Returns the last range that starts at or before @address, if it contains @address; else
 * NULL. */
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

/* Adds all address ranges of the DIE. */
static bool add_die(struct symbols_lines *lines, struct ranges *ranges, Dwarf_Die *die,
		    struct unit *unit)
{
	Dwarf_Addr base, from, to;
	ptrdiff_t at = 0;

	while ((at = dwarf_ranges(die, at, &base, &from, &to)) > 0 && lines->budget) {
		struct range range = {from, to, dwarf_dieoffset(die), unit};

		lines->budget--;
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
	ranges_sort(&lines->units);
	return lines->units.count > 0;
}

/* Returns the decompressed size of a section in the format older than SHF_COMPRESSED:
 * "ZLIB", then the size as a big-endian number (GNU as manual,
 * "--compress-debug-sections"). */
static uint64_t zdebug_size(Elf_Scn *scn)
{
	const Elf_Data *data = elf_rawdata(scn, NULL);
	const uint8_t *bytes = data ? data->d_buf : NULL;
	uint64_t size = 0;

	if (!bytes || data->d_size < 12 || memcmp(bytes, "ZLIB", 4))
		return 0;
	for (size_t i = 4; i < 12; i++)
		size = size << 8 | bytes[i];
	return size;
}

/* Returns the total decompressed size of the file's compressed sections; libdw
 * decompresses all of them at once. */
static uint64_t decompressed_size(Elf *elf)
{
	Elf_Scn *scn = NULL;
	uint64_t sum = 0;

	while ((scn = elf_nextscn(elf, scn))) {
		uint64_t size = 0;
		GElf_Shdr header;
		GElf_Chdr packed;

		if (!gelf_getshdr(scn, &header) || header.sh_type == SHT_NOBITS)
			continue;
		if (!(header.sh_flags & SHF_COMPRESSED))
			size = zdebug_size(scn);
		else if (gelf_getchdr(scn, &packed))
			size = packed.ch_size;
		if (size > UINT64_MAX - sum)
			return UINT64_MAX;
		sum += size;
	}
	return sum;
}

/* Returns whether the DWARF is small enough; if not, @why has the reason. */
static bool is_bounded(Elf *elf, size_t size, const char *name, struct error *why)
{
	uint64_t limit = unpack_limit(size);

	if (decompressed_size(elf) <= limit)
		return true;
	error_set(why,
		  "%s has compressed DWARF of more than %" PRIu64
		  " MiB: decompress it first (objcopy --decompress-debug-sections)",
		  name, limit >> 20);
	return false;
}

struct symbols_lines *symbols_lines_new(void *data, size_t size, const char *name,
					struct error *why)
{
	struct symbols_lines *lines = calloc(1, sizeof(*lines));

	why->text[0] = '\0';
	if (!lines)
		return NULL;
	elf_version(EV_CURRENT);
	lines->budget = BUDGET + size / 4;
	lines->elf = elf_memory(data, size);
	if (lines->elf && is_bounded(lines->elf, size, name, why))
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
		inlined_free(&unit->inlined);
		free(unit);
	}
	free(lines->units.list);
	dwarf_end(lines->dwarf);
	elf_end(lines->elf);
	free(lines);
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

static void set_path(struct symbol_line *line, const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	line->path = path;
	line->file = slash ? slash + 1 : path;
}

/* Sets @line to the place where the inlined function was called. */
static void set_call(struct symbol_line *line, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Word file = number_of(die, DW_AT_call_file);
	Dwarf_Files *files;
	size_t count;

	if (!dwarf_getsrcfiles(unit, &files, &count) && file < count)
		set_path(line, dwarf_filesrc(files, file, NULL, NULL));
	line->line = (uint32_t)number_of(die, DW_AT_call_line);
}

/*
 * Lists the functions from the innermost one outwards, each with the place at which the
 * previous one was called; the first entry of @list is the line of the address itself.
 */
static size_t find_inlined(struct symbols_lines *lines, const struct inlined *inlined,
			   Dwarf_Die *unit, uint64_t address, struct symbol_line *list)
{
	uint32_t at = inlined_find(inlined, address);
	size_t count = 1;
	Dwarf_Die die;

	for (; at != INLINED_NONE && count < SYMBOL_LINES_MAX;
	     at = inlined->functions[at].parent) {
		if (!dwarf_offdie(lines->dwarf, inlined->functions[at].die, &die) ||
		    dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			break;
		list[count - 1].function = function_of(&die);
		list[count] = (struct symbol_line){0};
		set_call(&list[count++], unit, &die);
	}
	return count;
}

size_t symbols_lines_find(struct symbols_lines *lines, uint64_t address,
			  struct symbol_line list[SYMBOL_LINES_MAX])
{
	struct range *range = find_range(&lines->units, address);
	Dwarf_Line *line;
	Dwarf_Die unit;
	int number;

	if (!range || !dwarf_offdie(lines->dwarf, range->die, &unit))
		return 0;
	list[0] = (struct symbol_line){0};
	line = dwarf_getsrc_die(&unit, address);
	if (line) {
		set_path(&list[0], dwarf_linesrc(line, NULL, NULL));
		list[0].line = dwarf_lineno(line, &number) ? 0 : (uint32_t)number;
	}
	if (!range->unit->is_read)
		inlined_read(&range->unit->inlined, &unit, &lines->budget);
	range->unit->is_read = true;
	return find_inlined(lines, &range->unit->inlined, &unit, address, list);
}
