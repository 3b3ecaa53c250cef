/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/program.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "symbols/code.h"
#include "symbols/elf/elf.h"
#include "symbols/spec.h"
#include "symbols/elf/unpack.h"

/* The memory that a program's pointers point into. */
struct program_parts {
	char *path;
	struct symbols_source source;
	struct symbols_debug debug;
	struct symbols_entries entries;
	struct code code;
	struct program_function *functions;
	uint8_t *copy; /* copy of the code; NULL: the code is in the source */
};

void program_close(struct program *program)
{
	struct program_parts *parts = program->parts;

	if (!parts)
		return;
	free(parts->functions);
	free(parts->copy);
	code_free(&parts->code);
	free(parts->entries.list);
	symbols_blocks_free(parts->entries.blocks);
	symbols_debug_free(&parts->debug);
	symbols_source_close(&parts->source);
	free(parts->path);
	free(parts);
	*program = (struct program){0};
}

/* libelf writes to its input when it decompresses sections; the mapping is private. */
static int make_writable(const struct symbols_source *source)
{
	return source->mapped
		       ? mprotect(source->data, source->size, PROT_READ | PROT_WRITE)
		       : 0;
}

static int no_memory(const struct program *program, struct error *err)
{
	return error_set(err, "%s: out of memory", symbols_shown_path(program->path));
}

/* Lists the program's functions: the regions that start a function. */
static int list_functions(struct program *program, struct error *err)
{
	struct program_parts *parts = program->parts;
	struct symbols_region *regions;
	size_t count, functions, kept = 0;

	if (symbols_regions_make(&parts->entries, &regions, &count, &functions))
		return no_memory(program, err);
	parts->functions = calloc(count + 1, sizeof(*parts->functions));
	for (size_t i = 0; parts->functions && i < count; i++) {
		if (!regions[i].name || regions[i].from != regions[i].start)
			continue;
		if (!program->hypercall_page && !strcmp(regions[i].name, HYPERCALL_PAGE))
			program->hypercall_page = regions[i].start;
		parts->functions[kept++] = (struct program_function){
			.start = regions[i].from,
			.end = i + 1 < count ? regions[i + 1].from : UINT64_MAX,
		};
	}
	free(regions);
	if (!parts->functions)
		return no_memory(program, err);
	program->functions = parts->functions;
	program->function_count = kept;
	return 0;
}

static int open_source(struct program *program, struct error *err)
{
	struct symbols_source *source = &program->parts->source;
	const char *name = symbols_shown_path(program->path);

	if (symbols_source_open(source, program->path, name, err) ||
	    unpack_source(source, name, err) || unpack_boot_image(source, name, err))
		return -1;
	if (source->size < 4 || memcmp(source->data, "\177ELF", 4))
		return error_set(err, "%s is not an ELF file", name);
	if (make_writable(source))
		return no_memory(program, err);
	program->elf = (struct program_file){source->data, source->size};
	return 0;
}

/* Reads the ELF file, and looks for its debug file if that is needed. */
static int read_elf(struct program *program, const char *debug_directory,
		    struct error *err)
{
	struct program_parts *parts = program->parts;
	struct symbols_debug *debug = &parts->debug;
	struct symbols_file shown = {0};
	struct symbols_elf elf;

	if (symbols_elf_read(program->elf.data, program->elf.size,
			     symbols_shown_path(program->path), &parts->entries, &elf,
			     err))
		return -1;
	program->machine = elf.machine;
	program->hypercall_page = elf.hypercall_page;
	if (elf.build_id_size <= sizeof(program->build_id)) {
		program->build_id_size = elf.build_id_size;
		program->build_id_address = elf.build_id_address;
		memcpy(program->build_id, elf.build_id, elf.build_id_size);
	}
	code_read(&parts->code, program->elf.data, program->elf.size);
	if (!parts->code.list)
		return no_memory(program, err);
	program->code = parts->code.list;
	program->code_count = parts->code.count;
	if ((!elf.functions || !elf.has_lines) && debug_directory &&
	    symbols_debug_find(debug, &elf, program->path, debug_directory, false))
		return no_memory(program, err);
	if (!debug->path)
		program->debug_missing = debug->missing;
	if (debug->path && make_writable(&debug->source))
		return no_memory(program, err);
	if (debug->path)
		program->debug = (struct program_file){debug->source.data,
						       debug->source.size};
	if (!elf.functions)
		symbols_read_stripped(debug, &elf, &parts->entries, &shown);
	return list_functions(program, err);
}

static void set_path(struct program *program)
{
	const char *path = program->parts->path, *slash = strrchr(path, '/');

	program->path = path;
	program->name = slash ? slash + 1 : path;
}

int program_open(struct program *program, const char *spec, const char *debug_directory,
		 struct error *err)
{
	struct program_parts *parts = calloc(1, sizeof(*parts));
	struct symbols_offset offset;

	*program = (struct program){.parts = parts};
	if (!parts)
		return error_set(err, "out of memory");
	parts->path = symbols_spec_split(spec, &offset, err);
	if (!parts->path)
		goto fail;
	set_path(program);
	program->offset = offset.down ? -offset.distance : offset.distance;
	program->has_offset = offset.is_given;
	if (open_source(program, err) < 0 || read_elf(program, debug_directory, err) < 0)
		goto fail;
	return 0;
fail:
	program_close(program);
	return -1;
}

int program_open_contents(struct program *program, const char *path, const void *data,
			  size_t size, struct error *err)
{
	struct program_parts *parts = calloc(1, sizeof(*parts));
	struct symbols_source *source = &parts->source;

	*program = (struct program){.parts = parts};
	if (!parts)
		return error_set(err, "out of memory");
	*source = (struct symbols_source){.data = malloc(size), .size = size};
	parts->path = strdup(path);
	if (!source->data || !parts->path) {
		error_set(err, "out of memory");
		goto fail;
	}
	memcpy(source->data, data, size);
	set_path(program);
	program->elf = (struct program_file){source->data, size};
	if (read_elf(program, NULL, err) == 0)
		return 0;
fail:
	program_close(program);
	return -1;
}

int program_keep_code(struct program *program, struct error *err)
{
	struct program_parts *parts = program->parts;
	size_t size = 0;
	uint8_t *to;

	for (size_t i = 0; i < parts->code.count; i++)
		size += parts->code.list[i].size;
	to = parts->copy = malloc(size + 1);
	if (!to)
		return no_memory(program, err);
	for (size_t i = 0; i < parts->code.count; i++) {
		struct code_range *range = &parts->code.list[i];

		memcpy(to, range->bytes, range->size);
		range->bytes = to;
		to += range->size;
	}
	program->elf = program->debug = (struct program_file){0};
	program->debug_missing = NULL;
	symbols_debug_free(&parts->debug);
	symbols_source_close(&parts->source);
	return 0;
}
