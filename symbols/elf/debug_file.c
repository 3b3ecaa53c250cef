/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "symbols/elf/debuginfod.h"

void symbols_debug_free(struct symbols_debug *debug)
{
	symbols_source_close(&debug->source);
	free(debug->path);
	free(debug->missing);
	free(debug->refused);
	*debug = (struct symbols_debug){0};
}

static uint32_t crc_of(const struct symbols_source *source)
{
	return (uint32_t)crc32_z(0, source->data, source->size);
}

static bool has_build_id(const struct symbols_elf *a, const struct symbols_elf *b)
{
	return a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Returns whether the opened debug file belongs to @elf; if not, @why has the reason. */
static bool is_right(const struct symbols_debug *debug, const struct symbols_elf *elf,
		     const char *path, bool by_link, struct error *why)
{
	char wanted[BUILD_ID_TEXT], found[BUILD_ID_TEXT];

	if (elf->machine != debug->elf.machine) {
		error_set(why, "%s is a debug file for another CPU", path);
		return false;
	}
	if (elf->build_id_size && (debug->elf.build_id_size || !by_link) &&
	    !has_build_id(elf, &debug->elf)) {
		symbols_build_id_text(elf, wanted);
		symbols_build_id_text(&debug->elf, found);
		error_set(why,
			  "%s is the debug file of another build: its build-id "
			  "is %s, not %s",
			  path, *found ? found : "missing", wanted);
		return false;
	}
	if (by_link && crc_of(&debug->source) != elf->debuglink_crc) {
		error_set(why,
			  "%s is the debug file of another build: its CRC is "
			  "%08x, not %08x",
			  path, crc_of(&debug->source), elf->debuglink_crc);
		return false;
	}
	return true;
}

/* Tries the file at @path, of which it takes ownership. Returns 1 if it is the right
 * file. */
static int try_file(struct symbols_debug *debug, const struct symbols_elf *elf,
		    char *path, bool by_link)
{
	struct error why;

	if (!path)
		return -1;
	if (access(path, F_OK)) {
		if (debug->missing)
			free(path);
		else
			debug->missing = path;
		return 0;
	}
	if (!symbols_source_open(&debug->source, path, path, &why)) {
		const struct symbols_source *source = &debug->source;

		if (source->size < 4 || memcmp(source->data, "\177ELF", 4))
			error_set(&why, "%s is not an ELF file", path);
		else if (!symbols_elf_read(source->data, source->size, path, NULL,
					   &debug->elf, &why) &&
			 is_right(debug, elf, path, by_link, &why)) {
			debug->path = path;
			return 1;
		}
		symbols_source_close(&debug->source);
	}
	free(path);
	if (debug->refused)
		return 0;
	debug->refused = strdup(why.text);
	return debug->refused ? 0 : -1;
}

static char *make_path(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Formats a path, which the caller frees; NULL if out of memory. */
static char *make_path(const char *format, ...)
{
	va_list args;
	char *path;
	int length;

	va_start(args, format);
	length = vasprintf(&path, format, args);
	va_end(args);
	return length < 0 ? NULL : path;
}

static int try_build_id(struct symbols_debug *debug, const struct symbols_elf *elf,
			const char *directory)
{
	char id[BUILD_ID_TEXT];

	symbols_build_id_text(elf, id);
	return try_file(debug, elf,
			make_path("%s/.build-id/%.2s/%s.debug", directory, id, id + 2),
			false);
}

/*
 * Looks in the file's directory, in .debug/ there, and in the debug directory with the
 * file's absolute directory appended.
 */
static int try_debuglink(struct symbols_debug *debug, const struct symbols_elf *elf,
			 const char *path, const char *directory)
{
	const char *name = elf->debuglink, *slash = strrchr(path, '/');
	int length = slash ? (int)(slash - path) : 1;
	const char *own = slash ? path : ".";
	char *real = realpath(path, NULL), *end;
	int status;

	status = try_file(debug, elf, make_path("%.*s/%s", length, own, name), true);
	if (!status)
		status = try_file(debug, elf,
				  make_path("%.*s/.debug/%s", length, own, name), true);
	end = real ? strrchr(real, '/') : NULL;
	if (!status && end)
		status = try_file(
			debug, elf,
			make_path("%s%.*s/%s", directory, (int)(end - real), real, name),
			true);
	free(real);
	return status;
}

static int try_debuginfod(struct symbols_debug *debug, const struct symbols_elf *elf)
{
	char id[BUILD_ID_TEXT];
	struct error why;
	char *path;

	symbols_build_id_text(elf, id);
	path = debuginfod_find(id, &why);
	if (path)
		return try_file(debug, elf, path, false);
	if (!debug->refused)
		debug->refused = strdup(why.text);
	return debug->refused ? 0 : -1;
}

int symbols_debug_find(struct symbols_debug *debug, const struct symbols_elf *elf,
		       const char *path, const char *directory, bool debuginfod)
{
	int status = 0;

	*debug = (struct symbols_debug){0};
	if (elf->build_id_size)
		status = try_build_id(debug, elf, directory);
	if (!status && elf->debuglink)
		status = try_debuglink(debug, elf, path, directory);
	if (!status && elf->build_id_size && debuginfod)
		status = try_debuginfod(debug, elf);
	return status < 0 ? -1 : 0;
}
