/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/table.h"

#include <string.h>

#include "symbols/text_line.h"

/* Maximum length of a line, bytes; a file with a longer line is not a symbol list */
#define LINE_LENGTH_MAX ((size_t)1 << 20)

/* Maximum number of ambiguous lines before the first one that identifies the format. */
#define UNDECIDED_MAX 65536

/* Maximum number of bad lines per good line; with more, the good lines are there by
 * chance. After no more bad lines than the slack, good lines may still follow. */
#define BAD_PER_GOOD 4
#define BAD_SLACK    1000

/*
 * Assumed maximum size (bytes) of the last symbol of a list or of a kernel module: its
 * end is not known, and the next symbol may be far away.
 */
#define LAST_REACH 4096

/* Size of a block of names, bytes; at least the length of the longest name */
#define NAMES_AT_ONCE ((size_t)1 << 18)

struct loader {
	struct symbols_entries *entries;
	char *names; /* space for the next name */
	size_t names_room, names_at_once;
	struct text module; /* module of the previous line */
	uint32_t group;
	bool has_modules;
	bool has_thumb;
	size_t functions;
	size_t at_zero; /* functions at address 0 */
	size_t good, bad;
};

static int not_symbols(const char *path, struct error *err)
{
	return error_set(err,
			 "%s is not a symbol file of a known kind (ELF, nm, kallsyms, "
			 "three columns)",
			 path);
}

/*
 * Removes the next line from the start of @file, and returns it without its line end;
 * false if there is none. A line that is too long is returned in pieces longer than
 * LINE_LENGTH_MAX.
 */
static bool take_line(struct text *file, struct text *line)
{
	size_t left = text_length(*file);
	const char *end;

	if (!left)
		return false;
	if (left > LINE_LENGTH_MAX + 1)
		left = LINE_LENGTH_MAX + 1;
	end = memchr(file->at, '\n', left);
	line->at = file->at;
	line->end = end ? end : file->at + left;
	file->at = end ? end + 1 : line->end;
	if (text_length(*line) > LINE_LENGTH_MAX)
		return true;
	while (line->end > line->at &&
	       (line->end[-1] == ' ' || line->end[-1] == '\t' || line->end[-1] == '\r'))
		line->end--;
	return true;
}

static enum line_format format_of_file(struct text file)
{
	struct text text;

	for (size_t i = 0; i < UNDECIDED_MAX && take_line(&file, &text); i++) {
		enum line_format format;

		if (text_length(text) > LINE_LENGTH_MAX)
			break;
		format = line_format(text);
		if (format != FORMAT_UNKNOWN)
			return format;
	}
	return FORMAT_UNKNOWN;
}

/* Returns the group of a module's symbols, which are adjacent in /proc/kallsyms. */
static uint32_t group_of(struct loader *loader, struct text module)
{
	size_t length = text_length(module);

	if (length)
		loader->has_modules = true;
	if (length != text_length(loader->module) ||
	    (length && memcmp(module.at, loader->module.at, length))) {
		loader->module = module;
		loader->group++;
	}
	return loader->group;
}

/* Copies the name; NULL if out of memory. */
static const char *keep_name(struct loader *loader, struct text name)
{
	size_t length = text_length(name), size = length + 1;
	char *kept;

	if (loader->names_room < size) {
		loader->names = symbols_block_new(&loader->entries->blocks,
						  loader->names_at_once);
		if (!loader->names)
			return NULL;
		loader->names_room = loader->names_at_once;
	}
	kept = loader->names;
	memcpy(kept, name.at, length);
	kept[length] = '\0';
	loader->names += size;
	loader->names_room -= size;
	return kept;
}

static int add_symbol(struct loader *loader, const struct line *line, bool is_function,
		      const char *path, struct error *err)
{
	struct symbols_entry entry = {.start = line->address, .rank = line->rank};
	size_t length = text_length(line->name);
	uint64_t reach = line->size ? line->size : LAST_REACH;

	if (symbols_is_local_label(line->name.at, length)) {
		loader->has_thumb |= line->name.at[1] == 't';
		return 0;
	}
	entry.group = group_of(loader, line->module);
	entry.extent = line->size ? EXTENT_SIZED : EXTENT_OPEN;
	entry.last = entry.start + reach - 1;
	if (entry.last < entry.start)
		entry.last = UINT64_MAX;
	if (is_function && length <= SYMBOLS_NAME_MAX &&
	    !symbols_is_module_bound(line->name.at, length)) {
		entry.length = (uint16_t)length;
		entry.name = keep_name(loader, line->name);
		if (!entry.name)
			return error_set(err, "%s: out of memory", path);
		loader->functions++;
		loader->at_zero += entry.start == 0;
	}
	return symbols_entries_add(loader->entries, &entry, path, err);
}

static int add_line(struct loader *loader, enum line_format format, struct text text,
		    const char *path, struct error *err)
{
	struct line line;
	enum line_kind kind = line_parse(format, text, &line);

	switch (kind) {
	case LINE_NEUTRAL:
		return 0;
	case LINE_FUNCTION:
	case LINE_BOUNDARY:
		loader->good++;
		return add_symbol(loader, &line, kind == LINE_FUNCTION, path, err);
	case LINE_BAD:
		break;
	}
	if (++loader->bad > loader->good * BAD_PER_GOOD + BAD_SLACK)
		return not_symbols(path, err);
	return 0;
}

/*
 * Clears bit 0 of all functions' addresses: Thumb functions have it set (ELF for the Arm
 * Architecture, st_value), and an nm for another CPU prints it. Such an nm also lists the
 * mapping symbols, by which such a list is known: $t starts Thumb code.
 */
static void clear_thumb_bits(struct symbols_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		struct symbols_entry *entry = &entries->list[i];

		if (entry->name && (entry->start & 1)) {
			entry->start--;
			entry->last--;
		}
	}
}

static const char *kind_of(enum line_format format, bool has_modules)
{
	switch (format) {
	case FORMAT_COLUMNS:
		return "three-column";
	case FORMAT_OBJDUMP:
		return "objdump";
	default:
		return has_modules ? "kallsyms" : "nm";
	}
}

int symbols_load_text(const void *data, size_t size, const char *path,
		      struct symbols_entries *entries, struct symbols_file *file,
		      struct error *err)
{
	struct text rest = {data, (const char *)data + size};
	struct loader loader = {
		.entries = entries,
		/* The names are parts of the text, each with a line end or at the end. */
		.names_at_once = size < NAMES_AT_ONCE ? size + 1 : NAMES_AT_ONCE,
	};
	enum line_format format;
	struct text text;

	/* Skip the byte-order mark that Windows' tools put before UTF-8. */
	if (size >= 3 && !memcmp(data, "\xef\xbb\xbf", 3))
		rest.at += 3;
	format = format_of_file(rest);
	if (format == FORMAT_UNKNOWN)
		return not_symbols(path, err);
	while (take_line(&rest, &text)) {
		if (text_length(text) > LINE_LENGTH_MAX)
			return not_symbols(path, err);
		if (add_line(&loader, format, text, path, err))
			return -1;
	}
	if (!loader.good || loader.bad > loader.good * BAD_PER_GOOD)
		return not_symbols(path, err);
	if (!loader.functions)
		return error_set(err, "%s: contains data symbols, but no functions",
				 path);
	/* Linux, Documentation/admin-guide/sysctl/kernel.rst, kptr_restrict */
	if (loader.functions > 1 && loader.at_zero == loader.functions)
		return error_set(
			err,
			"%s: all addresses are 0, as /proc/kallsyms shows them to "
			"users other than root; read it as root, with "
			"kernel.kptr_restrict set to 0 or 1",
			path);
	if (loader.has_thumb)
		clear_thumb_bits(entries);
	file->kind = kind_of(format, loader.has_modules);
	return 0;
}
