/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "report/domains.h"
#include "report/names.h"
#include "report/tree.h"

struct frames {
	const struct sources *sources;
	const struct recorded *recorded;
	const struct summary *summary;
	bool by_domain;	    /* some domains have sources of their own */
	struct tree index;  /* a root per use, then domains, then the frames' addresses */
	struct frame *list; /* by node; nodes that are no frames have empty ones */
	uint32_t count, capacity;
	struct names *functions;
	bool *known; /* by function */
	uint32_t known_capacity;
};

#define USES 2

/* The array with room for one more than @count; NULL, the array being as it was,
 * when memory is short. */
static void *reserve(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
	uint32_t room = *capacity ? *capacity * 2 : 256;
	void *grown;

	if (count < *capacity)
		return array;
	grown = realloc(array, room * size);
	if (grown)
		*capacity = room;
	return grown;
}

/* The number of a function that may be new; NAMES_NONE when memory is short. */
static uint32_t add_function(struct frames *frames, const char *name, bool known)
{
	uint32_t before = names_count(frames->functions);
	uint32_t function = names_intern(frames->functions, name);
	bool *flags;

	if (function == NAMES_NONE)
		return NAMES_NONE;
	flags = reserve(frames->known, &frames->known_capacity, function, sizeof(*flags));
	if (!flags)
		return NAMES_NONE;
	frames->known = flags;
	frames->known[function] = known || (function < before && frames->known[function]);
	return function;
}

struct frames *frames_new(const struct sources *sources, const struct recorded *recorded,
			  const struct summary *summary)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->sources = sources;
	frames->recorded = recorded;
	frames->summary = summary;
	for (size_t i = 0; i < sources->count; i++)
		frames->by_domain |= sources->list[i].domain != NULL;
	frames->functions = names_new();
	if (!frames->functions || tree_init(&frames->index, USES) < 0 ||
	    add_function(frames, "[no call chain]", false) != FRAMES_EMPTY_CHAIN) {
		frames_free(frames);
		return NULL;
	}
	return frames;
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	tree_free(&frames->index);
	names_free(frames->functions);
	free(frames->list);
	free(frames->known);
	free(frames);
}

static int look_up(struct frames *frames, uint32_t domain, struct frame *frame,
		   enum frame_use use)
{
	uint64_t address = frame->address;
	struct symbol symbol = {0};
	char hex[24];
	bool known;

	if (use == FRAME_CALLER && address)
		address--;
	known = sources_find(frames->sources, summary_domain(frames->summary, domain),
			     address, &symbol) ||
		recorded_find(frames->recorded, domain, address, &symbol);
	if (known) {
		frame->dso = symbol.dso;
		frame->offset = frame->address - symbol.start;
	} else {
		snprintf(hex, sizeof(hex), "0x%" PRIx64, frame->address);
	}
	frame->function = add_function(frames, known ? symbol.name : hex, known);
	return frame->function == NAMES_NONE ? -1 : 0;
}

/* Appends @frame to the list; -1 when memory is short. */
static int append(struct frames *frames, struct frame frame)
{
	struct frame *list = reserve(frames->list, &frames->capacity, frames->count,
				     sizeof(*list));

	if (!list)
		return -1;
	frames->list = list;
	frames->list[frames->count++] = frame;
	return 0;
}

uint32_t frames_find(struct frames *frames, uint32_t domain, uint64_t address,
		     enum frame_use use)
{
	struct frame frame = {.address = address};
	bool by_domain = frames->by_domain || recorded_any(frames->recorded);
	uint32_t parent = tree_intern(&frames->index, use, by_domain ? domain : 0);
	uint32_t node = parent == TREE_NONE
				? TREE_NONE
				: tree_intern(&frames->index, parent, address);

	if (node == TREE_NONE)
		return FRAMES_NONE;
	if (node < frames->count)
		return node;
	while (frames->count < node)
		if (append(frames, (struct frame){0}) < 0)
			return FRAMES_NONE;
	if (look_up(frames, domain, &frame, use) < 0 || append(frames, frame) < 0)
		return FRAMES_NONE;
	return node;
}

uint32_t frames_domain(struct frames *frames, uint32_t domain)
{
	char name[DOMAIN_NAME_SIZE];

	domain_name(name, summary_domain(frames->summary, domain));
	return add_function(frames, name, false);
}

const struct frame *frames_get(const struct frames *frames, uint32_t number)
{
	return &frames->list[number];
}

uint32_t frames_functions(const struct frames *frames)
{
	return names_count(frames->functions);
}

const char *frames_function_name(const struct frames *frames, uint32_t function)
{
	return names_get(frames->functions, function);
}

bool frames_function_known(const struct frames *frames, uint32_t function)
{
	return frames->known[function];
}
