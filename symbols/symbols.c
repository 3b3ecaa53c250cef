/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/symbols.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "symbols/code.h"
#include "symbols/demangle.h"
#include "symbols/elf/elf.h"
#include "symbols/dwarf/lines.h"
#include "symbols/source.h"
#include "symbols/spec.h"
#include "symbols/table.h"
#include "symbols/elf/unpack.h"

/*
 * Limit in bytes on the output of all demangling together. Normal reports stay far below
 * it; in a hostile file, each name may cost DEMANGLE_TO_MAX.
 */
#define DEMANGLE_BUDGET ((size_t)64 << 20)

struct table_file {
	char *path;
	const char *dso; /* file name within the path */
	struct symbols_region *regions;
	size_t count;
	struct symbols_block *names;
	struct symbols_offset offset;
	struct symbols_debug debug;
	struct symbols_source source; /* contains code and lines, if any */
	struct code code;
	struct symbols_lines *lines; /* source lines; NULL: none, or not requested */
	char *lines_refused;
};

/* The name of an inlined function. All places of the function share one string. */
struct inlined {
	const char *name;
	const char *shown;
};

/* A table of symbols. @files and @shown are parallel arrays; @shown is for callers. */
struct symbols {
	struct table_file *files;
	struct symbols_file *shown;
	size_t count;
	struct symbols_options options;
	size_t demangled; /* output of demangling so far, bytes (DEMANGLE_BUDGET) */
	struct symbol_line lines[SYMBOL_LINES_MAX]; /* lines of the last symbol found */
	void *inlined; /* tsearch()'s root: struct inlined, by address of the name */
	struct symbols_block *inlined_names;
};

struct symbols *symbols_new(const struct symbols_options *options)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols)
		symbols->options = *options;
	return symbols;
}

static void table_file_free(struct table_file *file)
{
	free(file->path);
	free(file->regions);
	symbols_blocks_free(file->names);
	symbols_lines_free(file->lines);
	free(file->lines_refused);
	code_free(&file->code);
	symbols_source_close(&file->source);
	symbols_debug_free(&file->debug);
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	for (size_t i = 0; i < symbols->count; i++)
		table_file_free(&symbols->files[i]);
	tdestroy(symbols->inlined, free);
	symbols_blocks_free(symbols->inlined_names);
	free(symbols->files);
	free(symbols->shown);
	free(symbols);
}

size_t symbols_files(const struct symbols *symbols, const struct symbols_file **files)
{
	*files = symbols->shown;
	return symbols->count;
}

void symbols_build_id(const struct symbols_file *file, char to[SYMBOLS_BUILD_ID_TEXT])
{
	*to = 0;
	for (size_t i = 0; i < file->build_id_size; i++)
		snprintf(to + 2 * i, 3, "%02x", file->build_id[i]);
}

/* Grows both arrays for one more file. */
static int reserve_file(struct symbols *symbols)
{
	size_t room = symbols->count + 1;

	return array_grow(&symbols->files, room, sizeof(*symbols->files)) &&
			       array_grow(&symbols->shown, room, sizeof(*symbols->shown))
		       ? 0
		       : -1;
}

static bool shift_entry(struct symbols_entry *entry, struct symbols_offset offset)
{
	uint64_t space = UINT64_MAX - offset.distance;

	if (offset.down) {
		if (entry->start < offset.distance)
			return false;
		entry->start -= offset.distance;
		entry->last -= offset.distance;
		return true;
	}
	if (entry->start > space)
		return false;
	entry->start += offset.distance;
	entry->last = entry->last > space ? UINT64_MAX : entry->last + offset.distance;
	return true;
}

static void shift_segments(struct symbols_file *file, struct symbols_offset offset)
{
	size_t kept = 0;

	for (size_t i = 0; i < file->segment_count; i++) {
		struct symbols_segment segment = file->segments[i];
		struct symbols_entry range = {
			.start = segment.address,
			.last = segment.address + segment.size - 1,
		};

		if (!shift_entry(&range, offset))
			continue;
		segment.address = range.start;
		segment.size = range.last - range.start + 1;
		file->segments[kept++] = segment;
	}
	file->segment_count = kept;
	file->image += offset.down ? -offset.distance : offset.distance;
}

static void shift_entries(struct symbols_entries *entries, struct symbols_offset offset)
{
	size_t kept = 0;

	for (size_t i = 0; i < entries->count; i++) {
		struct symbols_entry entry = entries->list[i];

		if (shift_entry(&entry, offset))
			entries->list[kept++] = entry;
	}
	entries->count = kept;
}

/* Files that are often mistaken for symbol files, and what to use instead. */
static const struct {
	size_t offset;
	const char *magic;
	size_t length;
	const char *advice;
} lookalikes[] = {
	/* Linux, Documentation/arch/: x86/boot.rst, arm64/booting.rst */
	{0x202, "HdrS", 4,
	 "is a Linux boot image without symbols; use vmlinux, System.map or the guest's "
	 "/proc/kallsyms"},
	{0x38, "ARM\x64", 4,
	 "is a Linux boot image without symbols; use vmlinux, System.map or the guest's "
	 "/proc/kallsyms"},
	{0, "!<arch>\n", 8, "is an archive of object files; use the linked program"},
	{0, "\xff\xfe", 2, "is text in UTF-16; convert it to UTF-8 first"},
};

static bool is_elf(const void *data, size_t size)
{
	return size >= 4 && !memcmp(data, "\177ELF", 4);
}

static int load_text(const void *data, size_t size, const char *path,
		     struct symbols_entries *entries, struct symbols_file *file,
		     struct error *err)
{
	if (!symbols_load_text(data, size, path, entries, file, err))
		return 0;
	/* Only after all else failed, because a list may contain such bytes by chance. */
	for (size_t i = 0; i < sizeof(lookalikes) / sizeof(*lookalikes); i++) {
		size_t offset = lookalikes[i].offset, length = lookalikes[i].length;

		if (size >= offset + length &&
		    !memcmp((const char *)data + offset, lookalikes[i].magic, length))
			return error_set(err, "%s: %s", path, lookalikes[i].advice);
	}
	return -1;
}

static const char *last_component(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static uint64_t find_linux_text(const struct symbols_entries *entries)
{
	static const char name[] = "_text";

	for (size_t i = 0; i < entries->count; i++) {
		const struct symbols_entry *entry = &entries->list[i];

		if (entry->name && entry->length == sizeof(name) - 1 &&
		    !memcmp(entry->name, name, sizeof(name) - 1) &&
		    entry->start >= LINUX_START && entry->start < LINUX_END)
			return entry->start;
	}
	return 0;
}

int symbols_add_memory(struct symbols *symbols, const char *path,
		       struct symbols_offset offset, const void *data, size_t size,
		       struct error *err)
{
	const char *name = symbols_shown_path(path);
	const struct symbols_elf_input elf = {data, size, path, name, &symbols->options};
	struct symbols_entries entries = {0};
	struct table_file file = {0};
	struct symbols_file shown = {0};
	int status = -1;

	file.path = strdup(path);
	if (!file.path || reserve_file(symbols)) {
		error_set(err, "%s: out of memory", name);
		goto out;
	}
	file.dso = last_component(file.path);
	if (is_elf(data, size)
		    ? symbols_load_elf(&elf, &entries, &shown, &file.debug, err)
		    : load_text(data, size, name, &entries, &shown, err))
		goto out;
	shift_entries(&entries, offset);
	shift_segments(&shown, offset);
	shown.linux_text = find_linux_text(&entries);
	if (symbols_regions_make(&entries, &file.regions, &file.count,
				 &shown.functions)) {
		error_set(err, "%s: out of memory", name);
		goto out;
	}
	if (!file.count) {
		error_set(err,
			  "%s: the offset moves its functions out of the address space",
			  name);
		goto out;
	}
	file.names = entries.blocks;
	file.offset = offset;
	shown.has_offset = offset.is_given;
	entries.blocks = NULL;
	shown.path = file.path;
	shown.low = file.regions[0].from;
	/* The last region is a gap, unless a function extends to the last address. */
	shown.high = file.regions[file.count - 1].name
			     ? UINT64_MAX
			     : file.regions[file.count - 1].from - 1;
	symbols->files[symbols->count] = file;
	symbols->shown[symbols->count] = shown;
	symbols->count++;
	status = 0;
out:
	free(entries.list);
	symbols_blocks_free(entries.blocks);
	if (status)
		table_file_free(&file);
	return status;
}

/* Opens the DWARF of a file, whose contents are in @from. */
static void add_lines(struct table_file *file, struct symbols_file *shown,
		      struct symbols_source *from)
{
	struct error why;

	/* libelf writes to its input when it decompresses sections. The mapping is
	 * private, so the file itself does not change. */
	if (from->mapped && mprotect(from->data, from->size, PROT_READ | PROT_WRITE))
		return;
	file->lines = symbols_lines_new(
		from->data, from->size,
		symbols_shown_path(shown->lines_from ?: shown->path), &why);
	shown->has_lines = file->lines != NULL;
	if (why.text[0])
		shown->lines_refused = file->lines_refused = strdup(why.text);
}

/* Opens the parts of the file added last that lookups need, and keeps @source for them.
 */
static void open_parts(struct symbols *symbols, struct symbols_source *source)
{
	struct table_file *file = &symbols->files[symbols->count - 1];
	struct symbols_file *shown = &symbols->shown[symbols->count - 1];

	if (!is_elf(source->data, source->size))
		return;
	file->source = *source;
	*source = (struct symbols_source){0};
	code_read(&file->code, file->source.data, file->source.size);
	if (symbols->options.lines)
		add_lines(file, shown,
			  shown->lines_from ? &file->debug.source : &file->source);
}

int symbols_add(struct symbols *symbols, const char *spec, struct error *err)
{
	struct symbols_source source = {0};
	struct symbols_offset offset;
	int status = -1;
	char *path;

	path = symbols_spec_split(spec, &offset, err);
	if (!path)
		return -1;
	if (symbols_source_open(&source, path, symbols_shown_path(path), err) ||
	    unpack_source(&source, symbols_shown_path(path), err))
		goto out;
	status = symbols_add_memory(symbols, path, offset, source.data, source.size, err);
	if (!status)
		open_parts(symbols, &source);
out:
	symbols_source_close(&source);
	free(path);
	return status;
}

int symbols_add_contents(struct symbols *symbols, const char *path, const void *data,
			 size_t size, struct error *err)
{
	struct symbols_source source = {.data = malloc(size), .size = size};
	const struct symbols_offset offset = {0};
	int status;

	if (!source.data)
		return error_set(err, "%s: out of memory", symbols_shown_path(path));
	memcpy(source.data, data, size);
	status = symbols_add_memory(symbols, path, offset, source.data, size, err);
	if (status == 0)
		open_parts(symbols, &source);
	symbols_source_close(&source);
	return status;
}

/* Returns the last region that starts at or before @address; @count is not 0. */
static struct symbols_region *find_region(struct symbols_region *regions, size_t count,
					  uint64_t address)
{
	while (count > 1) {
		size_t half = count / 2;

		if (regions[half].from <= address)
			regions += half;
		count -= half;
	}
	return regions;
}

/* Returns the demangled @name, stored in @blocks; @name itself if it is not mangled or
 * the budget is used up. */
static const char *demangle_name(struct symbols *symbols, const char *name,
				 struct symbols_block **blocks)
{
	struct demangled demangled;
	bool is_mangled;
	char *kept;

	if (symbols->options.demangle == DEMANGLE_NOT ||
	    symbols->demangled >= DEMANGLE_BUDGET)
		return name;
	is_mangled = demangle(name, symbols->options.demangle == DEMANGLE_BARE,
			      &demangled);
	symbols->demangled += demangled.made;
	kept = is_mangled ? symbols_block_new(blocks, demangled.length + 1) : NULL;
	return kept ? memcpy(kept, demangled.text, demangled.length + 1) : name;
}

static int compare_inlined(const void *left, const void *right)
{
	const struct inlined *a = left, *b = right;

	return (a->name > b->name) - (a->name < b->name);
}

/* Demangled names are cached by the address of the mangled one, because there are far
 * more places than names. */
const char *symbols_readable(struct symbols *symbols, const char *name)
{
	struct inlined *inlined = malloc(sizeof(*inlined)), **kept;

	if (!inlined)
		return name;
	*inlined = (struct inlined){name, NULL};
	kept = tsearch(inlined, &symbols->inlined, compare_inlined);
	if (!kept || *kept != inlined)
		free(inlined);
	if (!kept)
		return name;
	if (!(*kept)->shown)
		(*kept)->shown = demangle_name(symbols, name, &symbols->inlined_names);
	return (*kept)->shown;
}

/* Returns the address in the file, without the load offset. */
static uint64_t place_in(const struct table_file *file, uint64_t address)
{
	const struct symbols_offset *offset = &file->offset;

	return offset->down ? address + offset->distance : address - offset->distance;
}

static void find_lines(struct symbols *symbols, const struct table_file *file,
		       uint64_t address, struct symbol *symbol)
{
	symbol->lines = symbols->lines;
	symbol->line_count = 0;
	if (!file->lines)
		return;
	symbol->line_count = symbols_lines_find(file->lines, place_in(file, address),
						symbols->lines);
	for (size_t i = 0; i + 1 < symbol->line_count; i++)
		symbols->lines[i].function = symbols_readable(symbols,
							      symbols->lines[i].function);
}

uint64_t symbols_shift(const struct symbols_file *file, uint64_t linux_text)
{
	return linux_text && file->linux_text ? linux_text - file->linux_text : 0;
}

const struct code *symbols_code(const struct symbols *symbols, uint32_t file)
{
	const struct code *code = &symbols->files[file].code;

	return code->count ? code : NULL;
}

bool symbols_find(struct symbols *symbols, uint64_t address, struct symbol *symbol)
{
	return symbols_find_in(symbols, &(struct symbols_guest){0}, address, symbol);
}

/* Finds the symbol at @address in a file whose addresses are moved by @shift. */
static bool find_in_file(struct symbols *symbols, size_t number, uint64_t shift,
			 uint64_t address, struct symbol *symbol)
{
	struct table_file *file = &symbols->files[number];
	const struct symbols_file *shown = &symbols->shown[number];
	uint64_t place = address - shift;
	struct symbols_region *region;

	if (place < shown->low || place > shown->high)
		return false;
	region = find_region(file->regions, file->count, place);
	if (!region->name)
		return false;
	if (!region->shown)
		region->shown = demangle_name(symbols, region->name, &file->names);
	symbol->name = region->shown;
	symbol->mangled = region->name;
	symbol->dso = file->dso;
	symbol->start = region->start + shift;
	symbol->file = shown;
	symbol->call = code_before(&file->code, place_in(file, place) + 1);
	find_lines(symbols, file, place, symbol);
	return true;
}

/* Sets @shift to the next of the moves of a file in the guest; @at starts as 0. False if
 * there is none. */
static bool next_shift(const struct symbols *symbols, const struct symbols_guest *guest,
		       size_t file, size_t *at, uint64_t *shift)
{
	bool is_first = *at == 0;

	while (*at < guest->place_count) {
		const struct symbols_place *place = &guest->places[(*at)++];

		*shift = place->shift;
		if (place->file == file)
			return true;
	}
	*at = guest->place_count + 1;
	*shift = symbols_shift(&symbols->shown[file], guest->linux_text);
	return is_first;
}

/* Finds the symbol at @address in the file with this @number, at any of its places. */
static bool find_in_places(struct symbols *symbols, const struct symbols_guest *guest,
			   size_t number, uint64_t address, struct symbol *symbol)
{
	uint64_t shift;

	for (size_t at = 0; next_shift(symbols, guest, number, &at, &shift);)
		if (find_in_file(symbols, number, shift, address, symbol))
			return true;
	return false;
}

bool symbols_find_at(struct symbols *symbols, const struct symbols_place *place,
		     uint64_t address, struct symbol *symbol)
{
	return find_in_file(symbols, place->file, place->shift, address, symbol);
}

bool symbols_find_in(struct symbols *symbols, const struct symbols_guest *guest,
		     uint64_t address, struct symbol *symbol)
{
	struct symbol other;

	for (size_t i = 0; i < guest->own_count; i++)
		if (symbols_find_at(symbols, &guest->places[i], address, symbol))
			return true;
	for (size_t i = 0; i < symbols->count; i++) {
		if (!find_in_places(symbols, guest, i, address, symbol))
			continue;
		for (i++; guest->is_vague && i < symbols->count; i++)
			if (find_in_places(symbols, guest, i, address, &other))
				return false;
		return true;
	}
	return false;
}

bool symbols_cover(const struct symbols *symbols, const struct symbols_guest *guest,
		   uint64_t address)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbols_file *file = &symbols->shown[i];
		uint64_t shift;

		for (size_t at = 0; next_shift(symbols, guest, i, &at, &shift);)
			if (address - shift >= file->low && address - shift <= file->high)
				return true;
	}
	return false;
}
