/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/text.h"
#include "base/tree.h"

struct place {
	uint64_t offset;
	uint32_t name,
		dso; /* indexes in the texts; name is NAMES_NONE for a node without one */
	uint32_t line; /* index of its first line */
	uint8_t line_count;
	bool is_symbol, is_last;
};

/* Function and path are indexes in the texts, where 0 is the empty one. */
struct line {
	uint32_t function, path, line;
};

/* The roots of the index */
enum root {
	ROOT_DOMAIN, /* its children: domains; theirs: addresses */
	ROOT_COMMON, /* its children: bases of recordings; theirs: addresses in all
			domains */
	ROOT_FILES,  /* its children: places in files */
	ROOTS,
};

struct recorded {
	struct tree index;
	struct place *places; /* by node of the index */
	uint32_t count, capacity;
	struct names *texts;
	struct line *lines;
	uint32_t line_count, line_capacity;
	uint32_t *bases; /* first domain index of each recording, ascending */
	size_t base_count;
	struct recorded_program **programs;
	size_t program_count;
	bool by_domain; /* some names are of one domain only */
	struct symbols *demangler;
	/* Lines of the last symbol found: the only thing that a look-up changes */
	struct symbol_line *found;
};

_Static_assert(RECORDING_MAX_LINES == SYMBOL_LINES_MAX, "all lines are kept");

struct recorded *recorded_new(enum demangle_style demangle)
{
	const struct symbols_options options = {.demangle = demangle};
	struct recorded *recorded = calloc(1, sizeof(*recorded));

	if (!recorded)
		return NULL;
	recorded->texts = names_new();
	recorded->demangler = symbols_new(&options);
	recorded->found = calloc(SYMBOL_LINES_MAX, sizeof(*recorded->found));
	if (!recorded->texts || names_intern(recorded->texts, "") != 0 ||
	    !recorded->demangler || !recorded->found ||
	    tree_init(&recorded->index, ROOTS) < 0 || recorded_begin(recorded, 0) < 0) {
		recorded_free(recorded);
		return NULL;
	}
	return recorded;
}

void recorded_free(struct recorded *recorded)
{
	if (!recorded)
		return;
	for (size_t i = 0; i < recorded->program_count; i++)
		free(recorded->programs[i]);
	free(recorded->programs);
	free(recorded->bases);
	tree_free(&recorded->index);
	free(recorded->places);
	free(recorded->lines);
	symbols_free(recorded->demangler);
	free(recorded->found);
	if (recorded->texts)
		names_free(recorded->texts);
	free(recorded);
}

int recorded_begin(struct recorded *recorded, uint32_t base)
{
	if (recorded->base_count && recorded->bases[recorded->base_count - 1] == base)
		return 0;
	if (!array_grow(&recorded->bases, recorded->base_count + 1,
			sizeof(*recorded->bases)))
		return -1;
	recorded->bases[recorded->base_count++] = base;
	return 0;
}

/* Returns the base of the recording that the domain is in. */
static uint32_t base_of(const struct recorded *recorded, uint32_t domain)
{
	size_t i = recorded->base_count - 1;

	while (i && recorded->bases[i] > domain)
		i--;
	return recorded->bases[i];
}

static uint32_t current_base(const struct recorded *recorded)
{
	return recorded->bases[recorded->base_count - 1];
}

static uint32_t intern_text(struct recorded *recorded, struct recording_text text)
{
	char *copy;
	uint32_t number;

	if (!text.length)
		return 0;
	copy = strndup(text.at, text.length);
	number = copy ? names_intern(recorded->texts, copy) : NAMES_NONE;
	free(copy);
	return number;
}

/* Makes room for all nodes of the index; new nodes have no name. */
static int make_room(struct recorded *recorded)
{
	if (recorded->index.count > recorded->capacity) {
		if (!array_grow(&recorded->places, recorded->index.capacity,
				sizeof(*recorded->places)))
			return -1;
		recorded->capacity = recorded->index.capacity;
	}
	while (recorded->count < recorded->index.count)
		recorded->places[recorded->count++].name = NAMES_NONE;
	return 0;
}

static int add_line(struct recorded *recorded, const struct recording_line *line)
{
	struct line kept = {
		.function = intern_text(recorded, line->function),
		.path = intern_text(recorded, line->path),
		.line = line->line,
	};
	uint32_t room = recorded->line_capacity ? recorded->line_capacity * 2 : 256;

	if (kept.function == NAMES_NONE || kept.path == NAMES_NONE)
		return -1;
	if (recorded->line_count == recorded->line_capacity) {
		if (!array_grow(&recorded->lines, room, sizeof(*recorded->lines)))
			return -1;
		recorded->line_capacity = room;
	}
	recorded->lines[recorded->line_count++] = kept;
	return 0;
}

/* Returns the node of a name's place in a file; TREE_NONE if out of memory. */
static uint32_t node_in_file(struct recorded *recorded, struct mappings *mappings,
			     const struct recording_name *name)
{
	uint64_t file = mappings_add_file(mappings, name->file_path, name->file_build_id);
	uint64_t offset = name->address - RECORDING_FILES;

	return file ? tree_intern(&recorded->index, ROOT_FILES, file + offset)
		    : TREE_NONE;
}

/* Returns the node of the name's address; TREE_NONE if out of memory. */
static uint32_t node_of(struct recorded *recorded, const struct recording_name *name)
{
	uint32_t base = current_base(recorded);
	uint32_t parent = name->is_common
				  ? tree_intern(&recorded->index, ROOT_COMMON, base)
				  : tree_intern(&recorded->index, ROOT_DOMAIN,
						(uint64_t)name->domain + base);

	return parent == TREE_NONE ? TREE_NONE
				   : tree_intern(&recorded->index, parent, name->address);
}

static int add_name(struct recorded *recorded, struct mappings *mappings,
		    const struct recording_name *name)
{
	bool is_in_file = name->file_path.length || name->file_build_id.length;
	uint32_t node = is_in_file ? node_in_file(recorded, mappings, name)
				   : node_of(recorded, name);
	struct place place = {
		.offset = name->offset,
		.line = recorded->line_count,
		.line_count = (uint8_t)name->line_count,
		.is_symbol = name->is_symbol,
		.is_last = name->is_last,
	};

	if (node == TREE_NONE || make_room(recorded) < 0)
		return -1;
	if (recorded->places[node].name != NAMES_NONE)
		return 0;
	place.dso = intern_text(recorded, name->dso);
	place.name = intern_text(recorded, name->name);
	if (place.dso == NAMES_NONE || place.name == NAMES_NONE)
		return -1;
	for (uint32_t i = 0; i < name->line_count; i++)
		if (add_line(recorded, &name->lines[i]) < 0)
			return -1;
	recorded->places[node] = place;
	recorded->by_domain |= !name->is_common && !is_in_file;
	return 0;
}

int recorded_add(struct recorded *recorded, struct mappings *mappings,
		 struct name_list_reader names)
{
	struct recording_name name;

	while (name_list_next(&names, &name))
		if (add_name(recorded, mappings, &name) < 0)
			return -1;
	return 0;
}

/* Sets the build-id from its text, unless that is not hexadecimal. */
static void set_build_id(struct symbols_file *file, const char *text)
{
	size_t length = strlen(text);

	if (length % 2 || length > 2 * sizeof(file->build_id) ||
	    strspn(text, "0123456789abcdef") != length)
		return;
	for (size_t i = 0; i < length / 2; i++)
		sscanf(text + 2 * i, "%2hhx", &file->build_id[i]);
	file->build_id_size = length / 2;
}

static void set_segments(struct symbols_file *file,
			 const struct recording_program *program)
{
	for (size_t i = 0; i < RECORDING_SEGMENTS; i++) {
		const uint64_t *fields = program->segments[i];

		/* A segment that exceeds the address space can't be used either. */
		if (!fields[1] || fields[0] + (fields[1] - 1) < fields[0])
			return;
		file->segments[file->segment_count++] = (struct symbols_segment){
			.address = fields[0], .size = fields[1], .offset = fields[2]};
	}
}

int recorded_add_program(struct recorded *recorded,
			 const struct recording_program *program)
{
	struct recorded_program *kept = calloc(1, sizeof(*kept));

	if (!kept || !array_grow(&recorded->programs, recorded->program_count + 1,
				 sizeof(*recorded->programs))) {
		free(kept);
		return -1;
	}
	recorded->programs[recorded->program_count++] = kept;
	kept->copy = *program;
	text_clean(kept->copy.name, kept->copy.name);
	text_clean(kept->copy.path, kept->copy.path);
	kept->base = current_base(recorded);
	kept->domain = *kept->copy.domain ? kept->copy.domain : NULL;
	kept->name = kept->copy.name;
	kept->file.path = kept->copy.path;
	kept->file.image = program->image;
	kept->file.has_lines = program->has_lines;
	set_build_id(&kept->file, program->build_id);
	kept->build_id = kept->file.build_id_size ? kept->copy.build_id : "";
	set_segments(&kept->file, program);
	return 0;
}

bool recorded_by_domain(const struct recorded *recorded)
{
	return recorded->by_domain;
}

uint32_t recorded_scope(const struct recorded *recorded, uint32_t domain)
{
	if (recorded->by_domain)
		return domain;
	return recorded->count ? base_of(recorded, domain) : 0;
}

/* Finds the name of an address below a node of the index. */
static const struct place *find_below(const struct recorded *recorded, uint32_t parent,
				      uint64_t address)
{
	uint32_t node = parent == TREE_NONE
				? TREE_NONE
				: tree_find(&recorded->index, parent, address);

	return node == TREE_NONE ? NULL : &recorded->places[node];
}

static const struct place *find_place(const struct recorded *recorded, uint32_t domain,
				      uint64_t address)
{
	const struct place *place = find_below(
		recorded, tree_find(&recorded->index, ROOT_DOMAIN, domain), address);
	uint32_t base = base_of(recorded, domain);

	if (address >= MAPPED_START && address <= MAPPED_END)
		return find_below(recorded, ROOT_FILES, address);
	return place
		       ?: find_below(recorded,
				     tree_find(&recorded->index, ROOT_COMMON, base),
				     address);
}

/* Returns a text, demangled if it is a symbol's; NULL for the empty text. */
static const char *text_of(const struct recorded *recorded, uint32_t text, bool is_symbol)
{
	const char *plain = names_get(recorded->texts, text);

	if (!*plain)
		return NULL;
	return is_symbol ? symbols_readable(recorded->demangler, plain) : plain;
}

static void set_lines(const struct recorded *recorded, const struct place *place,
		      struct symbol *symbol)
{
	for (size_t i = 0; i < place->line_count; i++) {
		const struct line *line = &recorded->lines[place->line + i];
		const char *path = text_of(recorded, line->path, false);
		const char *slash = path ? strrchr(path, '/') : NULL;

		recorded->found[i] = (struct symbol_line){
			.function = text_of(recorded, line->function, true),
			.path = path,
			.file = slash ? slash + 1 : path,
			.line = line->line,
		};
	}
	symbol->lines = recorded->found;
	symbol->line_count = place->line_count;
}

bool recorded_find(const struct recorded *recorded, uint32_t domain, uint64_t address,
		   struct symbol *symbol)
{
	const struct place *place = find_place(recorded, domain, address);
	const char *name;

	if (!place || place->name == NAMES_NONE)
		return false;
	name = names_get(recorded->texts, place->name);
	*symbol = (struct symbol){
		.name = text_of(recorded, place->name, place->is_symbol),
		.mangled = place->is_symbol ? name : NULL,
		.dso = names_get(recorded->texts, place->dso),
		.start = address - place->offset,
		.is_last = place->is_last,
	};
	if (*symbol->dso && strcmp(name, RECORDING_NO_NAME) == 0)
		symbol->name = symbol->mangled = NULL;
	set_lines(recorded, place, symbol);
	return true;
}

size_t recorded_programs(const struct recorded *recorded,
			 struct recorded_program *const **list)
{
	*list = recorded->programs;
	return recorded->program_count;
}

bool recorded_is_with(const struct recorded *recorded,
		      const struct recorded_program *program, uint32_t domain)
{
	return base_of(recorded, domain) == program->base;
}
