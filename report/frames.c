/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/domains.h"
#include "report/names.h"
#include "report/tree.h"

/* Where a function's name comes from. */
struct origin {
	const char *mangled; /* one of its symbols; NULL: no symbol */
	bool known;
	bool is_merged; /* has symbols with other mangled names, too */
};

struct frames {
	const struct sources *sources;
	const struct recorded *recorded;
	const struct summary *summary;
	bool by_domain;	    /* some domains have sources of their own */
	struct tree index;  /* a root per use, then domains, then the frames' addresses */
	struct frame *list; /* by node; nodes that are no frames have empty ones */
	uint32_t count, capacity;
	struct names *functions;
	struct origin *origins; /* by function */
	uint32_t origin_capacity;
	uint32_t *chains; /* of each frame, its functions */
	uint32_t chains_count, chains_capacity;
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

/*
 * The number of a function that may be new; NAMES_NONE when memory is short. @mangled
 * is its symbol, NULL when that is not known or there is none.
 */
static uint32_t add_function(struct frames *frames, const char *name, bool known,
			     const char *mangled)
{
	uint32_t before = names_count(frames->functions);
	uint32_t function = names_intern(frames->functions, name);
	struct origin *origins, *origin;

	if (function == NAMES_NONE)
		return NAMES_NONE;
	origins = reserve(frames->origins, &frames->origin_capacity, function,
			  sizeof(*origins));
	if (!origins)
		return NAMES_NONE;
	frames->origins = origins;
	origin = &origins[function];
	if (function >= before)
		*origin = (struct origin){0};
	origin->known |= known;
	if (mangled && origin->mangled)
		origin->is_merged |= strcmp(mangled, origin->mangled) != 0;
	else if (mangled)
		origin->mangled = mangled;
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
	    add_function(frames, "[no call chain]", false, NULL) != FRAMES_EMPTY_CHAIN) {
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
	free(frames->origins);
	free(frames->chains);
	free(frames);
}

/* Appends a function to the frame's; -1 when memory is short. */
static int add_to_chain(struct frames *frames, struct frame *frame, uint32_t function)
{
	uint32_t *chains = reserve(frames->chains, &frames->chains_capacity,
				   frames->chains_count, sizeof(*chains));

	if (function == NAMES_NONE || !chains)
		return -1;
	frames->chains = chains;
	chains[frames->chains_count++] = function;
	frame->function_count++;
	return 0;
}

/*
 * Adds the symbol, or the function that is inlined there, with the line if it is
 * wanted: "NAME FILE:LINE", as perf's call chains have it.
 */
static int add_known(struct frames *frames, struct frame *frame,
		     const struct symbol *symbol, const char *inlined,
		     const struct symbol_line *line)
{
	const char *name = inlined ?: symbol->name;
	const char *mangled = inlined ? NULL : symbol->mangled;
	char *with_line;
	int status;

	if (!frames->sources->srcline || !line || !line->file || !line->line)
		return add_to_chain(frames, frame,
				    add_function(frames, name, true, mangled));
	if (asprintf(&with_line, "%s %s:%" PRIu32, name, line->file, line->line) < 0)
		return -1;
	status = add_to_chain(frames, frame,
			      add_function(frames, with_line, true, mangled));
	free(with_line);
	return status;
}

static int look_up(struct frames *frames, uint32_t domain, struct frame *frame,
		   enum frame_use use)
{
	uint64_t address = frame->address;
	struct symbol symbol = {0};
	uint32_t inlined = 0;
	char hex[24];

	if (use == FRAME_CALLER && address)
		address--;
	frame->first = frames->chains_count;
	if (!sources_find(frames->sources, summary_domain(frames->summary, domain),
			  address, &symbol) &&
	    !recorded_find(frames->recorded, domain, address, &symbol)) {
		snprintf(hex, sizeof(hex), "0x%" PRIx64, frame->address);
		frame->function = add_function(frames, hex, false, NULL);
		return add_to_chain(frames, frame, frame->function);
	}
	frame->dso = symbol.dso;
	frame->offset = frame->address - symbol.start;
	while (frames->sources->inlined && inlined + 1 < symbol.line_count) {
		const struct symbol_line *line = &symbol.lines[inlined++];

		if (add_known(frames, frame, &symbol, line->function, line) < 0)
			return -1;
	}
	if (add_known(frames, frame, &symbol, NULL,
		      symbol.line_count ? &symbol.lines[inlined] : NULL) < 0)
		return -1;
	frame->function = frames->chains[frame->first];
	return 0;
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
	return add_function(frames, name, false, NULL);
}

const struct frame *frames_get(const struct frames *frames, uint32_t number)
{
	return &frames->list[number];
}

uint32_t frames_function_at(const struct frames *frames, const struct frame *frame,
			    uint32_t depth)
{
	return frames->chains[frame->first + depth];
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
	return frames->origins[function].known;
}

uint32_t frames_merged(const struct frames *frames, const char **example)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < names_count(frames->functions); i++) {
		if (!frames->origins[i].is_merged)
			continue;
		if (!count++)
			*example = names_get(frames->functions, i);
	}
	return count;
}
