/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/mappings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"

/* A mapping of a process. */
struct code {
	uint64_t start, size, offset;
	uint32_t file; /* number of the file */
};

/* The mappings of a process that were read at one time. */
struct mapped_process {
	uint64_t time;
	size_t first, count; /* among all mappings, by address */
	uint64_t end;	     /* of the last one */
};

/* Files with higher numbers are not looked up. */
#define FILES_MAX ((MAPPED_END - MAPPED_START + 1) >> MAPPED_SHIFT)

struct mappings {
	uint32_t base;
	/* The root's children: domains; theirs: address spaces; theirs: pids, and 0 for
	 * the process that was added last. */
	struct tree index;
	struct mapped_process *processes; /* by node of the index */
	size_t process_room;
	struct code *codes;
	size_t code_count, code_room;
	struct tree files_index;   /* the root's children: paths; theirs: build-ids */
	struct mapped_file *files; /* by node of files_index */
	size_t file_room;
	struct names *texts;
};

struct mappings *mappings_new(void)
{
	struct mappings *mappings = calloc(1, sizeof(*mappings));

	if (!mappings)
		return NULL;
	mappings->texts = names_new();
	if (mappings->texts && tree_init(&mappings->index, 1) == 0 &&
	    tree_init(&mappings->files_index, 1) == 0)
		return mappings;
	mappings_free(mappings);
	return NULL;
}

void mappings_free(struct mappings *mappings)
{
	if (!mappings)
		return;
	tree_free(&mappings->index);
	tree_free(&mappings->files_index);
	if (mappings->texts)
		names_free(mappings->texts);
	free(mappings->processes);
	free(mappings->codes);
	free(mappings->files);
	free(mappings);
}

void mappings_begin(struct mappings *mappings, uint32_t base)
{
	mappings->base = base;
}

bool mappings_any(const struct mappings *mappings)
{
	return mappings && mappings->code_count;
}

/* Makes room for @count elements, of which new ones are zero. */
static bool reach(void *array, size_t *room, size_t count, size_t size)
{
	size_t most = 2 * *room > count ? 2 * *room : count;

	if (count <= *room)
		return true;
	if (!array_grow_zeroed(array, *room, most, size))
		return false;
	*room = most;
	return true;
}

static void file_set(struct mapped_file *file, const char *path, const char *build_id,
		     struct recording_text id)
{
	const char *slash = strrchr(path, '/');

	file->path = path;
	file->name = slash ? slash + 1 : path;
	file->build_id = build_id;
	if (id.length)
		memcpy(file->id, id.at, id.length);
	file->id_size = (uint8_t)id.length;
}

static uint32_t intern_path(struct mappings *mappings, struct recording_text path)
{
	char text[RECORDING_MAX_PATH + 1];

	snprintf(text, sizeof(text), "%.*s", (int)path.length, path.at);
	return names_intern(mappings->texts, text);
}

static uint32_t intern_build_id(struct mappings *mappings, struct recording_text bytes)
{
	char text[2 * RECORDING_MAX_BUILD_ID + 1] = "";

	for (size_t i = 0; i < bytes.length; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)bytes.at[i]);
	return names_intern(mappings->texts, text);
}

/* Returns the number of a file; TREE_NONE if out of memory. */
static uint32_t add_file(struct mappings *mappings, struct recording_text its_path,
			 struct recording_text its_build_id)
{
	uint32_t path = intern_path(mappings, its_path);
	uint32_t build_id = intern_build_id(mappings, its_build_id);
	uint32_t node = TREE_NONE;

	if (path != NAMES_NONE && build_id != NAMES_NONE)
		node = tree_intern(&mappings->files_index, 0, path);
	if (node != TREE_NONE)
		node = tree_intern(&mappings->files_index, node, build_id);
	if (node == TREE_NONE || !reach(&mappings->files, &mappings->file_room,
					(size_t)node + 1, sizeof(*mappings->files)))
		return TREE_NONE;
	file_set(&mappings->files[node], names_get(mappings->texts, path),
		 names_get(mappings->texts, build_id), its_build_id);
	return node;
}

uint64_t mappings_add_file(struct mappings *mappings, struct recording_text path,
			   struct recording_text build_id)
{
	uint32_t file = add_file(mappings, path, build_id);

	return file < FILES_MAX ? MAPPED_START | (uint64_t)file << MAPPED_SHIFT : 0;
}

/* Returns the node of the process; TREE_NONE if out of memory. */
static uint32_t add_process(struct mappings *mappings,
			    const struct recording_mapping *mapping, uint32_t pid)
{
	uint32_t node = tree_intern(&mappings->index, 0,
				    (uint64_t)mapping->domain + mappings->base);

	if (node != TREE_NONE)
		node = tree_intern(&mappings->index, node, mapping->space);
	if (node != TREE_NONE)
		node = tree_intern(&mappings->index, node, pid);
	return node != TREE_NONE && reach(&mappings->processes, &mappings->process_room,
					  (size_t)node + 1, sizeof(struct mapped_process))
		       ? node
		       : TREE_NONE;
}

/* Adds the last of the codes, which has this @number, to a process. One that does not
 * follow the code before it, as only hostile recordings have it, is left out. */
static void process_take(struct mapped_process *process, uint64_t time,
			 const struct code *code, size_t number)
{
	if (process->time != time || process->first + process->count != number)
		*process = (struct mapped_process){.time = time, .first = number};
	if (code->start < process->end)
		return;
	process->count++;
	process->end = code->start + code->size;
}

static int add_mapping(struct mappings *mappings, const struct recording_mapping *mapping)
{
	uint32_t file = add_file(mappings, mapping->path, mapping->build_id);
	uint32_t process = add_process(mappings, mapping, mapping->pid);
	uint32_t last = add_process(mappings, mapping, 0);
	size_t number = mappings->code_count;
	uint64_t end = mapping->offset + mapping->size;

	if (file == TREE_NONE || process == TREE_NONE || last == TREE_NONE ||
	    !reach(&mappings->codes, &mappings->code_room, number + 1,
		   sizeof(*mappings->codes)))
		return -1;
	mappings->codes[mappings->code_count++] = (struct code){
		.start = mapping->start,
		.size = mapping->size,
		.offset = mapping->offset,
		.file = file,
	};
	if (end > mappings->files[file].size)
		mappings->files[file].size = end;
	process_take(&mappings->processes[process], mapping->time,
		     &mappings->codes[number], number);
	if (last != process)
		process_take(&mappings->processes[last], mapping->time,
			     &mappings->codes[number], number);
	return 0;
}

int mappings_add(struct mappings *mappings, struct mapping_list_reader reader)
{
	struct recording_mapping mapping;

	while (mapping_list_next(&reader, &mapping))
		if (add_mapping(mappings, &mapping) < 0)
			return -1;
	return 0;
}

const struct mapped_process *mappings_of(const struct mappings *mappings, uint32_t domain,
					 const struct recording_process *process)
{
	uint32_t node;

	if (!mappings->code_count || !process->space)
		return NULL;
	node = tree_find(&mappings->index, 0, domain);
	if (node != TREE_NONE)
		node = tree_find(&mappings->index, node, process->space);
	if (node != TREE_NONE)
		node = tree_find(&mappings->index, node, process->pid);
	return node != TREE_NONE ? &mappings->processes[node] : NULL;
}

/* Returns the code that the process has at @address; NULL if there is none. */
static const struct code *find_code(const struct mappings *mappings,
				    const struct mapped_process *process,
				    uint64_t address)
{
	const struct code *code = &mappings->codes[process->first];
	size_t count = process->count;

	while (count > 1) {
		size_t half = count / 2;

		if (code[half].start <= address)
			code += half;
		count -= half;
	}
	return count && address - code->start < code->size ? code : NULL;
}

uint64_t mappings_place(const struct mappings *mappings,
			const struct mapped_process *process, uint64_t address)
{
	const struct code *code = find_code(mappings, process, address);
	uint64_t offset;

	/* A call at the end of a file's code returns behind it. */
	if (!code)
		code = find_code(mappings, process, address - 1);
	if (!code || code->file >= FILES_MAX || !*mappings->files[code->file].path)
		return address;
	offset = address - code->start + code->offset;
	return offset >> MAPPED_SHIFT
		       ? address
		       : MAPPED_START | (uint64_t)code->file << MAPPED_SHIFT | offset;
}

size_t mappings_numbers(const struct mappings *mappings)
{
	return mappings ? mappings->file_room : 0;
}

const struct mapped_file *mappings_get(const struct mappings *mappings, size_t number,
				       uint64_t *place)
{
	*place = MAPPED_START | (uint64_t)number << MAPPED_SHIFT;
	return number < FILES_MAX ? mappings_file(mappings, *place, &(uint64_t){0})
				  : NULL;
}

const struct mapped_file *mappings_file(const struct mappings *mappings, uint64_t place,
					uint64_t *offset)
{
	uint64_t file = (place & (MAPPED_END - MAPPED_START)) >> MAPPED_SHIFT;

	if (!mappings || place < MAPPED_START || place > MAPPED_END ||
	    file >= mappings->file_room || !mappings->files[file].path)
		return NULL;
	*offset = place & (((uint64_t)1 << MAPPED_SHIFT) - 1);
	return &mappings->files[file];
}
