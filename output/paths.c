/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/paths.h"

#include <stdlib.h>

#include "base/array.h"

int paths_init(struct paths *paths)
{
	return tree_init(&paths->tree, 1);
}

void paths_free(struct paths *paths)
{
	tree_free(&paths->tree);
	free(paths->known[FRAME_LEAF]);
	free(paths->known[FRAME_CALLER]);
	free(paths->list);
}

/* Makes room for all nodes of the stacks. -1 if out of memory. */
static int paths_grow(struct paths *paths)
{
	uint32_t room = paths->report->stacks->tree.capacity;

	if (room <= paths->room)
		return 0;
	for (int use = FRAME_LEAF; use <= FRAME_CALLER; use++)
		if (!array_grow_zeroed(&paths->known[use], paths->room, room,
				       sizeof(*paths->known[use])))
			return -1;
	paths->room = room;
	return 0;
}

/* Returns @path followed by the functions at the address @stack; TREE_NONE if out of
 * memory. */
static uint32_t add_functions(struct paths *paths, uint32_t path, uint32_t stack,
			      enum frame_use use)
{
	const struct stacks *stacks = paths->report->stacks;
	struct frames *frames = paths->report->frames;
	uint32_t found = frames_find(frames, stacks->domain[stack],
				     stacks->tree.nodes[stack].key, use);
	uint32_t count = found == FRAMES_NONE ? 0
					      : frames_get(frames, found)->function_count;

	if (found == FRAMES_NONE)
		return TREE_NONE;
	while (count-- > 0 && path != TREE_NONE) {
		uint32_t number = paths->number(paths->arg, frames_get(frames, found),
						count);

		path = number == FRAMES_NONE ? TREE_NONE
					     : tree_intern(&paths->tree, path, number);
	}
	return path;
}

static uint32_t empty_path(struct paths *paths)
{
	uint32_t number = paths->number(paths->arg, NULL, 0);

	return number == FRAMES_NONE ? TREE_NONE : tree_intern(&paths->tree, 0, number);
}

uint32_t paths_find(struct paths *paths, uint32_t stack)
{
	const struct stacks *stacks = paths->report->stacks;
	uint32_t missing[RECORDING_MAX_DEPTH], count = 0, path = 0;
	enum frame_use use = FRAME_LEAF;

	if (!stacks_is_address(stacks, stack))
		return empty_path(paths);
	if (paths_grow(paths) < 0)
		return TREE_NONE;
	for (; stacks_is_address(stacks, stack); use = FRAME_CALLER) {
		path = paths->known[use][stack];
		if (path)
			break;
		missing[count++] = stack;
		stack = stacks->tree.nodes[stack].parent;
	}
	while (count-- > 0 && path != TREE_NONE) {
		use = count ? FRAME_CALLER : FRAME_LEAF;
		path = add_functions(paths, path, missing[count], use);
		if (path != TREE_NONE)
			paths->known[use][missing[count]] = path;
	}
	return path;
}

uint32_t paths_list(struct paths *paths, uint32_t path, const uint32_t **list)
{
	const struct tree_node *nodes = paths->tree.nodes;
	uint32_t count = 0, node;

	for (node = path; node; node = nodes[node].parent)
		count++;
	if (count > paths->list_room) {
		if (!array_grow(&paths->list, count, sizeof(*paths->list)))
			return 0;
		paths->list_room = count;
	}
	*list = paths->list;
	node = path;
	for (uint32_t i = count; i-- > 0; node = nodes[node].parent)
		paths->list[i] = (uint32_t)nodes[node].key;
	return count;
}

uint32_t paths_function(void *arg, const struct frame *frame, uint32_t depth)
{
	return frame ? frames_function_at(arg, frame, depth) : FRAMES_EMPTY_CHAIN;
}

int path_frames_init(struct path_frames *frames, struct frames *of)
{
	frames->frames = of;
	frames->files = names_new();
	if (!frames->files || tree_init(&frames->keys, 1) < 0)
		return -1;
	return names_intern(frames->files, "") == 0 ? 0 : -1;
}

void path_frames_free(struct path_frames *frames)
{
	if (frames->files)
		names_free(frames->files);
	tree_free(&frames->keys);
}

uint32_t path_frames_number(void *arg, const struct frame *frame, uint32_t depth)
{
	struct path_frames *frames = arg;
	uint32_t file = names_intern(frames->files,
				     frame && frame->dso ? frame->dso : "");
	uint32_t place = frame ? frames_place_at(frames->frames, frame, depth)
			       : frames_place_of(frames->frames, FRAMES_EMPTY_CHAIN);
	uint32_t node;

	if (file == NAMES_NONE || place == FRAMES_NONE)
		return FRAMES_NONE;
	node = tree_intern(&frames->keys, 0, (uint64_t)file << 32 | place);
	return node == TREE_NONE ? FRAMES_NONE : node - 1;
}
