/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* An address to look up */
struct entry {
	uint32_t domain;
	uint64_t address;
};

/* The names of a profile, on their way into the copy. */
struct naming {
	const struct profile *profile;
	const struct stacks *stacks; /* whose addresses are listed */
	struct writer *writer;
	struct tree seen; /* one root, then domains, then addresses */
	struct entry *entries;
	size_t count, room; /* number of entries used and allocated */
	uint64_t names;	    /* number of names written */
	struct error *err;
};

static int out_of_memory(struct naming *naming)
{
	return profile_out_of_memory(naming->err);
}

/* Adds an address unless it was added for the domain or one that shares its names. */
static int add_entry(struct naming *naming, struct entry entry)
{
	uint32_t parent, before;
	size_t room = naming->room ? naming->room * 2 : 1024;

	entry.domain = frames_scope(naming->profile->frames, entry.domain);
	parent = tree_intern(&naming->seen, 0, entry.domain);
	before = naming->seen.count;
	if (parent == TREE_NONE ||
	    tree_intern(&naming->seen, parent, entry.address) == TREE_NONE)
		return out_of_memory(naming);
	if (naming->seen.count == before)
		return 0;
	if (naming->count == naming->room) {
		if (!array_grow(&naming->entries, room, sizeof(*naming->entries)))
			return out_of_memory(naming);
		naming->room = room;
	}
	naming->entries[naming->count++] = entry;
	return 0;
}

/* Adds the address of the call or, if only the return address has a name, the return
 * address, for frames_return_address(). */
static int add_caller(struct naming *naming, struct entry caller)
{
	struct entry call = {caller.domain, caller.address - 1};
	struct symbol symbol;

	if (!caller.address || chain_mark_name(caller.address))
		return 0;
	if (frames_symbol(naming->profile->frames, call.domain, call.address, &symbol))
		return add_entry(naming, call);
	return add_entry(naming, caller);
}

/* Adds an address of the stacks. -1 with @naming->err set if out of memory. */
static int add_node(void *arg, uint32_t node, bool is_caller)
{
	struct naming *naming = arg;
	const struct stacks *stacks = naming->stacks;
	const struct entry entry = {stacks->domain[node], stacks->tree.nodes[node].key};

	return is_caller ? add_caller(naming, entry) : add_entry(naming, entry);
}

/* Lists the addresses to look up. */
static int collect_entries(struct naming *naming)
{
	const struct profile *profile = naming->profile;
	const struct stacks *const lists[] = {profile->stacks, profile->wait_stacks};

	for (size_t i = 0; i < 2; i++) {
		naming->stacks = lists[i];
		if (lists[i] && stacks_visit(lists[i], add_node, naming) < 0)
			return out_of_memory(naming);
	}
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Returns the text; an empty one if it is too long, as only a hostile file's can be. */
static struct recording_text text_of(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	return length <= RECORDING_MAX_NAME ? (struct recording_text){text, length}
					    : (struct recording_text){"", 0};
}

/* Sets the file that the address is a place in, if it is. */
static void set_file(const struct naming *naming, uint64_t address,
		     struct recording_name *name)
{
	const struct mappings *mappings = naming->profile->sources.mappings;
	uint64_t offset;
	const struct mapped_file *mapped = mappings_file(mappings, address, &offset);

	if (!mapped)
		return;
	name->address = RECORDING_FILES + offset;
	name->file_path = (struct recording_text){mapped->path, strlen(mapped->path)};
	name->file_build_id = (struct recording_text){(const char *)mapped->id,
						      mapped->id_size};
}

/* Sets the name of the entry, with @lines for its lines; false if it has none. */
static bool set_name(const struct naming *naming, const struct entry *entry,
		     struct recording_line *lines, struct recording_name *name)
{
	const struct frames *frames = naming->profile->frames;
	uint64_t next = entry->address + 1;
	struct symbol symbol = {0};

	name->is_last = frames_return_address(frames, entry->domain, next) != next;
	if (!frames_symbol(frames, entry->domain, entry->address, &symbol) ||
	    !symbol.mangled)
		return false;
	name->offset = entry->address - symbol.start;
	name->name = text_of(symbol.mangled);
	name->dso = text_of(symbol.dso);
	set_file(naming, entry->address, name);
	name->lines = lines;
	name->line_count = (uint32_t)symbol.line_count;
	for (size_t i = 0; i < symbol.line_count; i++)
		lines[i] = (struct recording_line){
			.function = text_of(symbol.lines[i].function),
			.path = text_of(symbol.lines[i].path),
			.line = symbol.lines[i].line,
		};
	return name->name.length > 0;
}

static int write_names(struct naming *naming)
{
	bool is_common = !frames_by_domain(naming->profile->frames);
	struct recording_line lines[RECORDING_MAX_LINES];

	if (naming->count)
		qsort(naming->entries, naming->count, sizeof(*naming->entries),
		      compare_entries);
	for (size_t i = 0; i < naming->count; i++) {
		const struct entry *entry = &naming->entries[i];
		struct recording_name name = {
			.domain = entry->domain,
			.is_symbol = true,
			.is_common = is_common,
			.address = entry->address,
		};

		if (!set_name(naming, entry, lines, &name))
			continue;
		if (writer_name(naming->writer, &name, naming->err) < 0)
			return -1;
		naming->names++;
	}
	return writer_flush(naming->writer, naming->err);
}

/* Describes a file that was loaded @shift bytes higher than it says. */
static void describe_program(struct recording_program *program,
			     const struct symbols_file *file, const char *domain,
			     uint64_t shift)
{
	char *path = realpath(file->path, NULL);

	*program = (struct recording_program){
		.has_lines = file->has_lines,
		.image = file->image + shift,
	};
	snprintf(program->name, sizeof(program->name), "%s", basename(file->path));
	/* A pipe that has been read has no real path. */
	snprintf(program->path, sizeof(program->path), "%s", path ?: file->path);
	snprintf(program->domain, sizeof(program->domain), "%s", domain ?: "");
	symbols_build_id(file, program->build_id);
	for (size_t i = 0; i < file->segment_count && i < RECORDING_SEGMENTS; i++) {
		const struct symbols_segment *segment = &file->segments[i];

		program->segments[i][0] = segment->address + shift;
		program->segments[i][1] = segment->size;
		program->segments[i][2] = segment->offset;
	}
	free(path);
}

/* Whether one of the symbol files is the program. */
static bool is_given(const struct sources *sources,
		     const struct recorded_program *program)
{
	for (size_t i = 0; i < sources->count; i++) {
		const struct symbols_file *files;
		size_t count = symbols_files(sources->list[i].symbols, &files);

		if (strcmp(sources->list[i].domain ?: "", program->domain ?: "") != 0)
			continue;
		for (size_t j = 0; j < count; j++)
			if (strcmp(basename(files[j].path), program->name) == 0)
				return true;
	}
	return false;
}

/* Writes the files in the order of perf_maps_init(). */
static int write_files(struct naming *naming, const struct source *source)
{
	const struct symbols_file *files;
	size_t count = symbols_files(source->symbols, &files);
	struct recording_program program;

	for (uint32_t i = 0; i < count; i++) {
		const struct places *places = &naming->profile->sources.places;

		describe_program(&program, &files[i], source->domain,
				 places_common(places, source->symbols, i));
		if (writer_program(naming->writer, &program, naming->err) < 0)
			return -1;
	}
	return 0;
}

static int write_programs(struct naming *naming)
{
	const struct sources *sources = &naming->profile->sources;
	struct recorded_program *const *list;
	size_t count = recorded_programs(sources->recorded, &list);

	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < sources->count; i++)
			if ((sources->list[i].domain != NULL) == own &&
			    write_files(naming, &sources->list[i]) < 0)
				return -1;
	for (size_t i = 0; i < count; i++)
		if (!is_given(sources, list[i]) &&
		    writer_program(naming->writer, &list[i]->copy, naming->err) < 0)
			return -1;
	return 0;
}

int archive_names_write(const struct profile *profile, struct writer *writer,
			uint64_t *count, struct error *err)
{
	struct naming naming = {.profile = profile, .writer = writer, .err = err};
	int status = -1;

	if (tree_init(&naming.seen, 1) < 0)
		out_of_memory(&naming);
	else if (write_programs(&naming) == 0 && collect_entries(&naming) == 0)
		status = write_names(&naming);
	*count = naming.names;
	tree_free(&naming.seen);
	free(naming.entries);
	return status;
}
