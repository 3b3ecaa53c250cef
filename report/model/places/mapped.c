/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/places/mapped.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "report/model/sources.h"

struct mapped_symbol_file {
	char *path, *build_id;	 /* as in struct mapped_file */
	struct symbols *symbols; /* NULL: not found */
};

struct mapped_symbols {
	struct mapped_symbol_file *list;
	size_t count;
};

/* Maximum number of files that are looked for. */
#define FILES_MAX 4096

struct mapped_symbols *mapped_symbols_new(void)
{
	return calloc(1, sizeof(struct mapped_symbols));
}

void mapped_symbols_free(struct mapped_symbols *mapped)
{
	for (size_t i = 0; mapped && i < mapped->count; i++) {
		free(mapped->list[i].path);
		free(mapped->list[i].build_id);
		symbols_free(mapped->list[i].symbols);
	}
	if (mapped)
		free(mapped->list);
	free(mapped);
}

/* Whether the symbol file is of the mapped file. */
static bool is_same(const struct symbols_file *symbols, const struct mapped_file *file)
{
	char build_id[SYMBOLS_BUILD_ID_TEXT];

	symbols_build_id(symbols, build_id);
	if (*build_id && *file->build_id)
		return strcmp(build_id, file->build_id) == 0;
	return *file->name && strcmp(basename(symbols->path), file->name) == 0;
}

/* Whether the symbol file has code at this offset. If so, sets *@address to its address
 * there. */
static bool address_of(const struct symbols_file *file, uint64_t offset,
		       uint64_t *address)
{
	for (size_t i = 0; i < file->segment_count; i++) {
		const struct symbols_segment *segment = &file->segments[i];

		if (offset - segment->offset >= segment->size)
			continue;
		*address = segment->address + (offset - segment->offset);
		return true;
	}
	return false;
}

/* Finds the symbol at @address, which has this offset in a mapped file, in that file
 * among the symbols. *@is_known: they have the file. */
static bool find_in(struct symbols *symbols, const struct mapped_file *file,
		    uint64_t address, uint64_t offset, struct symbol *symbol,
		    bool *is_known)
{
	const struct symbols_file *files;
	size_t count = symbols_files(symbols, &files);

	for (size_t i = 0; i < count; i++) {
		struct symbols_place place = {.file = (uint32_t)i};
		uint64_t there;

		if (files[i].has_offset || !is_same(&files[i], file) ||
		    !address_of(&files[i], offset, &there))
			continue;
		*is_known = true;
		place.shift = address - there;
		return symbols_find_at(symbols, &place, address, symbol);
	}
	return false;
}

/* Loads the symbols of the file at @path, if that is a file with the build-id, or with
 * any if none is known. NULL if it is not. */
static struct symbols *load_file(const struct symbols_options *options, const char *path,
				 const char *build_id)
{
	struct symbols *symbols;
	const struct symbols_file *files;
	struct mapped_file wanted = {.path = path, .name = "", .build_id = build_id};
	struct error ignored;
	struct stat st;

	/* A guest has chosen the path: it may be that of a pipe or of a device. */
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	symbols = symbols_new(options);
	if (symbols && symbols_add(symbols, path, &ignored) == 0 &&
	    symbols_files(symbols, &files) == 1 &&
	    (!*build_id || is_same(files, &wanted)))
		return symbols;
	symbols_free(symbols);
	return NULL;
}

/* Whether the path leads to a file below the directory that it is put behind. */
static bool is_plain(const char *path)
{
	return *path == '/' && !strstr(path, "/../");
}

static bool is_stripped(const struct symbols *symbols)
{
	const struct symbols_file *files;

	return symbols_files(symbols, &files) && files[0].is_stripped;
}

/* Looks for the symbols of a mapped file: below the directory of --symfs and, if its
 * build-id tells that it is the same file, at its path on this machine. One that is not
 * stripped is preferred. */
static struct symbols *look_for(const struct sources *sources,
				const struct mapped_file *file)
{
	struct symbols_options options = sources->options;
	struct symbols *symbols = NULL, *own;
	char *path;

	if (!is_plain(file->path))
		return NULL;
	if (sources->symfs && asprintf(&path, "%s%s", sources->symfs, file->path) >= 0) {
		symbols = load_file(&sources->options, path, file->build_id);
		free(path);
	}
	if (!*file->build_id || (symbols && !is_stripped(symbols)))
		return symbols;
	options.debug_directory = sources->debug_directory;
	own = load_file(&options, file->path, file->build_id);
	if (!own || (symbols && is_stripped(own))) {
		symbols_free(own);
		return symbols;
	}
	symbols_free(symbols);
	return own;
}

/* Returns the symbols that were found for a mapped file; NULL: none. */
static struct symbols *found_symbols(const struct sources *sources,
				     const struct mapped_file *file)
{
	struct mapped_symbols *mapped = sources->mapped;
	struct mapped_symbol_file *entry;

	for (size_t i = 0; mapped && i < mapped->count; i++)
		if (strcmp(mapped->list[i].path, file->path) == 0 &&
		    strcmp(mapped->list[i].build_id, file->build_id) == 0)
			return mapped->list[i].symbols;
	if (!mapped || mapped->count == FILES_MAX ||
	    !array_grow(&mapped->list, mapped->count + 1, sizeof(*mapped->list)))
		return NULL;
	entry = &mapped->list[mapped->count];
	*entry = (struct mapped_symbol_file){
		.path = strdup(file->path),
		.build_id = strdup(file->build_id),
	};
	if (!entry->path || !entry->build_id) {
		free(entry->path);
		free(entry->build_id);
		return NULL;
	}
	entry->symbols = look_for(sources, file);
	mapped->count++;
	return entry->symbols;
}

bool mapped_find(const struct sources *sources, const struct recording_domain *domain,
		 uint64_t place, struct symbol *symbol)
{
	const struct mapped_file *file;
	bool is_known = false;
	struct symbols *found;
	uint64_t offset;

	file = mappings_file(sources->mappings, place, &offset);
	if (!file)
		return false;
	for (size_t i = 0; i < sources->count; i++) {
		const struct source *source = &sources->list[i];

		if (source_is_for(source, domain) &&
		    find_in(source->symbols, file, place, offset, symbol, &is_known))
			return true;
	}
	found = is_known ? NULL : found_symbols(sources, file);
	return found && find_in(found, file, place, offset, symbol, &is_known);
}

const struct symbols_file *mapped_symbols_file(const struct mapped_symbols *mapped,
					       const char *name)
{
	const struct symbols_file *found = NULL;

	for (size_t i = 0; mapped && i < mapped->count; i++) {
		const struct symbols_file *files;

		if (!mapped->list[i].symbols ||
		    strcmp(basename(mapped->list[i].path), name) != 0)
			continue;
		if (found)
			return NULL;
		symbols_files(mapped->list[i].symbols, &files);
		found = files;
	}
	return found;
}

size_t mapped_symbols_count(const struct mapped_symbols *mapped)
{
	return mapped ? mapped->count : 0;
}

const char *mapped_symbols_get(const struct mapped_symbols *mapped, size_t number,
			       const char **path)
{
	const struct mapped_symbol_file *file = &mapped->list[number];
	const struct symbols_file *files;

	*path = file->path;
	if (!file->symbols)
		return NULL;
	symbols_files(file->symbols, &files);
	return files[0].path;
}

bool mapped_find_file(const struct sources *sources, uint64_t place,
		      struct symbol *symbol)
{
	const struct mapped_file *file;
	uint64_t offset;

	file = mappings_file(sources->mappings, place, &offset);
	if (!file || !*file->name)
		return false;
	*symbol = (struct symbol){
		.dso = file->name, .start = place - offset, .is_in_file = true};
	return true;
}
