/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/archive/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* An address to look up. */
struct entry {
	uint32_t domain;
	uint64_t address;
};

struct archive {
	const struct profile *profile;
	struct writer *writer;
	struct tree seen; /* one root, then domains, then addresses */
	struct entry *entries;
	size_t count, room;
	uint64_t names;
	struct error *err;
};

static int out_of_memory(struct archive *archive)
{
	return profile_out_of_memory(archive->err);
}

/* Adds an address once. If all domains have the same names, it is one of the first. */
static int add(struct archive *archive, struct entry entry)
{
	uint32_t parent, before;
	size_t room = archive->room ? archive->room * 2 : 1024;

	entry.domain = frames_scope(archive->profile->frames, entry.domain);
	parent = tree_intern(&archive->seen, 0, entry.domain);
	before = archive->seen.count;
	if (parent == TREE_NONE ||
	    tree_intern(&archive->seen, parent, entry.address) == TREE_NONE)
		return out_of_memory(archive);
	if (archive->seen.count == before)
		return 0;
	if (archive->count == archive->room) {
		if (!array_grow(&archive->entries, room, sizeof(*archive->entries)))
			return out_of_memory(archive);
		archive->room = room;
	}
	archive->entries[archive->count++] = entry;
	return 0;
}

/* The call is looked up and, for frames_return_address(), the return address itself if
 * only that has a name. */
static int add_caller(struct archive *archive, struct entry caller)
{
	struct entry call = {caller.domain, caller.address - 1};
	struct symbol symbol;

	if (!caller.address || chain_mark_name(caller.address))
		return 0;
	if (frames_symbol(archive->profile->frames, call.domain, call.address, &symbol))
		return add(archive, call);
	return add(archive, caller);
}

static int collect(struct archive *archive)
{
	const struct stacks *stacks = archive->profile->stacks;
	uint64_t *inclusive = stacks_inclusive(stacks);
	int status = inclusive ? 0 : out_of_memory(archive);

	for (uint32_t i = SAMPLES_ROOTS; i < stacks->tree.count && status == 0; i++) {
		const struct entry entry = {stacks->domain[i], stacks->tree.nodes[i].key};

		if (!stacks_is_address(stacks, i))
			continue;
		if (stacks->self[i])
			status = add(archive, entry);
		if (status == 0 && inclusive[i] > stacks->self[i])
			status = add_caller(archive, entry);
	}
	free(inclusive);
	return status;
}

static int compare_entries(const void *left, const void *right)
{
	const struct entry *a = left, *b = right;

	if (a->domain != b->domain)
		return a->domain < b->domain ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

/* Longer ones, which only a hostile file has, are left out. */
static struct recording_text text_of(const char *text)
{
	size_t length = text ? strlen(text) : 0;

	return length <= RECORDING_MAX_NAME ? (struct recording_text){text, length}
					    : (struct recording_text){"", 0};
}

/* Sets the name of the entry, with @lines for its lines; false if it has none. */
static bool set_name(const struct archive *archive, const struct entry *entry,
		     struct recording_line *lines, struct recording_name *name)
{
	const struct frames *frames = archive->profile->frames;
	uint64_t next = entry->address + 1;
	struct symbol symbol = {0};

	name->is_last = frames_return_address(frames, entry->domain, next) != next;
	if (!frames_symbol(frames, entry->domain, entry->address, &symbol) ||
	    !symbol.mangled)
		return false;
	name->offset = entry->address - symbol.start;
	name->name = text_of(symbol.mangled);
	name->dso = text_of(symbol.dso);
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

static int write_names(struct archive *archive)
{
	bool is_common = !frames_by_domain(archive->profile->frames);
	struct recording_line lines[RECORDING_MAX_LINES];

	if (archive->count)
		qsort(archive->entries, archive->count, sizeof(*archive->entries),
		      compare_entries);
	for (size_t i = 0; i < archive->count; i++) {
		const struct entry *entry = &archive->entries[i];
		struct recording_name name = {
			.domain = entry->domain,
			.is_symbol = true,
			.is_common = is_common,
			.address = entry->address,
		};

		if (!set_name(archive, entry, lines, &name))
			continue;
		if (writer_name(archive->writer, &name, archive->err) < 0)
			return -1;
		archive->names++;
	}
	return writer_flush(archive->writer, archive->err);
}

static void describe(struct recording_program *program, const struct symbols_file *file,
		     const char *domain)
{
	char *path = realpath(file->path, NULL);

	*program = (struct recording_program){
		.has_lines = file->has_lines,
		.image = file->image,
	};
	snprintf(program->name, sizeof(program->name), "%s", basename(file->path));
	/* A pipe that has been read has no other. */
	snprintf(program->path, sizeof(program->path), "%s", path ?: file->path);
	snprintf(program->domain, sizeof(program->domain), "%s", domain ?: "");
	symbols_build_id(file, program->build_id);
	for (size_t i = 0; i < file->segment_count && i < RECORDING_SEGMENTS; i++) {
		const struct symbols_segment *segment = &file->segments[i];

		program->segments[i][0] = segment->address;
		program->segments[i][1] = segment->size;
		program->segments[i][2] = segment->offset;
	}
	free(path);
}

/* Whether one of the files is that program. */
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

/* In the order of perf_maps_init(). */
static int write_files(struct archive *archive, const struct source *source)
{
	const struct symbols_file *files;
	size_t count = symbols_files(source->symbols, &files);
	struct recording_program program;

	for (size_t i = 0; i < count; i++) {
		describe(&program, &files[i], source->domain);
		if (writer_program(archive->writer, &program, archive->err) < 0)
			return -1;
	}
	return 0;
}

static int write_programs(struct archive *archive)
{
	const struct sources *sources = &archive->profile->sources;
	struct recorded_program *const *list;
	size_t count = recorded_programs(sources->recorded, &list);

	for (int own = 1; own >= 0; own--)
		for (size_t i = 0; i < sources->count; i++)
			if ((sources->list[i].domain != NULL) == own &&
			    write_files(archive, &sources->list[i]) < 0)
				return -1;
	for (size_t i = 0; i < count; i++)
		if (!is_given(sources, list[i]) &&
		    writer_program(archive->writer, &list[i]->copy, archive->err) < 0)
			return -1;
	return 0;
}

int archive_names_write(const struct profile *profile, struct writer *writer,
			uint64_t *count, struct error *err)
{
	struct archive archive = {.profile = profile, .writer = writer, .err = err};
	int status = -1;

	if (tree_init(&archive.seen, 1) < 0)
		out_of_memory(&archive);
	else if (write_programs(&archive) == 0 && collect(&archive) == 0)
		status = write_names(&archive);
	*count = archive.names;
	tree_free(&archive.seen);
	free(archive.entries);
	return status;
}
