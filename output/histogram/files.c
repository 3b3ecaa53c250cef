/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/histogram/files.h"

#include <stdlib.h>

#include "base/array.h"
#include "output/perf/perf.h"

enum {
	FILE_UNKNOWN = 0,
	FILE_SEVERAL = 1,
};

void function_files_free(struct function_files *files)
{
	tree_free(&files->places);
	free(files->files);
	if (files->names)
		names_free(files->names);
}

static int add_function(struct function_files *files, uint32_t domain, uint32_t function,
			uint32_t file)
{
	uint32_t node = tree_intern(&files->places, domain, function);
	uint32_t room = files->places.capacity;

	if (node == TREE_NONE)
		return -1;
	if (node >= files->room) {
		if (!array_grow_zeroed(&files->files, files->room, room,
				       sizeof(*files->files)))
			return -1;
		files->room = room;
	}
	if (files->files[node] && files->files[node] != file)
		file = FILE_SEVERAL;
	files->files[node] = file;
	return 0;
}

/* Returns the path of the file at an address without a name; NULL if unknown. */
static const char *mapped_path(const struct report *report, const struct perf_maps *maps,
			       uint32_t domain, uint64_t address)
{
	const struct perf_map *map = perf_maps_find(
		maps, summary_domain(report->summary, domain), domain, address);

	return map ? map->path : NULL;
}

struct filling {
	struct function_files *files;
	const struct report *report;
	struct perf_maps maps;
};

/* Adds the functions at a node of the stacks. -1 if out of memory. */
static int add_node(void *arg, uint32_t node, bool is_caller)
{
	const struct filling *filling = arg;
	const struct report *report = filling->report;
	struct function_files *files = filling->files;
	enum frame_use use = is_caller ? FRAME_CALLER : FRAME_LEAF;
	uint32_t index = report->stacks->domain[node];
	uint64_t address = report->stacks->tree.nodes[node].key;
	uint32_t number = frames_find(report->frames, index, address, use);
	uint32_t name = frames_domain(report->frames, index), domain, file;
	const struct frame *frame;
	const char *path;

	if (number == FRAMES_NONE || name == FRAMES_NONE)
		return -1;
	frame = frames_get(report->frames, number);
	path = frame->dso && *frame->dso
		       ? frame->dso
		       : mapped_path(report, &filling->maps, index, address - is_caller);
	file = path ? names_intern(files->names, path) : FILE_UNKNOWN;
	domain = tree_intern(&files->places, 0, name);
	if (file == NAMES_NONE || domain == TREE_NONE)
		return -1;
	for (uint32_t i = 0; i < frame->function_count; i++)
		if (add_function(files, domain,
				 frames_function_at(report->frames, frame, i), file) < 0)
			return -1;
	return 0;
}

int function_files_fill(struct function_files *files, const struct report *report)
{
	struct filling filling = {.files = files, .report = report};
	int status = -1;

	files->names = names_new();
	if (files->names && tree_init(&files->places, 1) == 0 &&
	    names_intern(files->names, "[unknown]") == FILE_UNKNOWN &&
	    names_intern(files->names, "[several]") == FILE_SEVERAL &&
	    perf_maps_init(&filling.maps, report->sources) == 0 &&
	    perf_maps_update(&filling.maps) == 0)
		status = stacks_visit(report->stacks, add_node, &filling);
	perf_maps_free(&filling.maps);
	return status;
}

uint32_t function_files_domain(const struct function_files *files, uint32_t domain)
{
	return files->names ? tree_find(&files->places, 0, domain) : TREE_NONE;
}

uint32_t function_files_find(const struct function_files *files, uint32_t domain,
			     uint32_t function)
{
	uint32_t node = domain == TREE_NONE ? TREE_NONE
					    : tree_find(&files->places, domain, function);

	return node == TREE_NONE ? FILE_UNKNOWN : files->files[node];
}

const char *function_files_name(const struct function_files *files, uint32_t file)
{
	return names_get(files->names, file);
}

uint32_t function_files_count(const struct function_files *files)
{
	return files->names ? names_count(files->names) : 0;
}
