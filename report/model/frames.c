/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/model/frames.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"
#include "report/model/domains.h"

/* One of the functions at an address */
struct chained {
	uint32_t function, place;
};

/* The origin of a function's name */
struct origin {
	const char *mangled; /* one of the function's symbols; NULL: none */
	bool known;
	bool is_merged; /* the function also has symbols with other mangled names */
};

struct frames {
	const struct sources *sources;
	const struct summary *summary;
	struct tree index;  /* a root for each use; below it domains, and below these the
			       frames' addresses */
	struct frame *list; /* by node; empty for nodes that are not frames */
	uint32_t count, capacity;
	struct names *functions;
	struct origin *origins; /* by function */
	uint32_t origin_capacity;
	struct chained *chains; /* the functions of each frame */
	uint32_t chains_count, chains_capacity;
	struct names *paths; /* of source files; 0: unknown */
	struct tree places;  /* one root, functions, their lines: path << 32 | line */
};

#define USES 2

/* Makes room for @count + 1 entries, like array_grow(). */
static bool array_reserve(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
	uint32_t room = *capacity ? *capacity * 2 : 256;

	if (count < *capacity)
		return true;
	if (!array_grow(array, room, size))
		return false;
	*capacity = room;
	return true;
}

/*
 * Returns the number of a function, which may be new; NAMES_NONE if out of memory.
 * @mangled is its symbol; NULL if unknown or none.
 */
static uint32_t add_function(struct frames *frames, const char *name, bool known,
			     const char *mangled)
{
	uint32_t before = names_count(frames->functions);
	uint32_t function = names_intern(frames->functions, name);
	struct origin *origin;

	if (function == NAMES_NONE ||
	    !array_reserve(&frames->origins, &frames->origin_capacity, function,
			   sizeof(*frames->origins)))
		return NAMES_NONE;
	origin = &frames->origins[function];
	if (function >= before)
		*origin = (struct origin){0};
	origin->known |= known;
	if (mangled && origin->mangled)
		origin->is_merged |= strcmp(mangled, origin->mangled) != 0;
	else if (mangled)
		origin->mangled = mangled;
	return function;
}

struct frames *frames_new(const struct sources *sources, const struct summary *summary)
{
	struct frames *frames = calloc(1, sizeof(*frames));

	if (!frames)
		return NULL;
	frames->sources = sources;
	frames->summary = summary;
	frames->functions = names_new();
	frames->paths = names_new();
	if (!frames->functions || !frames->paths ||
	    names_intern(frames->paths, "") != 0 || tree_init(&frames->index, USES) < 0 ||
	    tree_init(&frames->places, 1) < 0 ||
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
	tree_free(&frames->places);
	names_free(frames->functions);
	names_free(frames->paths);
	free(frames->list);
	free(frames->origins);
	free(frames->chains);
	free(frames);
}

/* Returns the number of a line of the function; TREE_NONE if out of memory. */
static uint32_t add_place(struct frames *frames, uint32_t function,
			  const struct symbol_line *line)
{
	uint32_t place = tree_intern(&frames->places, 0, function), path;

	if (frames->sources->lines != SOURCE_LINES_APART || !line || !line->path ||
	    !line->line || place == TREE_NONE)
		return place;
	path = names_intern(frames->paths, line->path);
	if (path == NAMES_NONE)
		return TREE_NONE;
	return tree_intern(&frames->places, place, (uint64_t)path << 32 | line->line);
}

/* Appends a function to the frame's; -1 if out of memory. */
static int add_to_chain(struct frames *frames, struct frame *frame, uint32_t function,
			const struct symbol_line *line)
{
	uint32_t place;

	if (function == NAMES_NONE ||
	    !array_reserve(&frames->chains, &frames->chains_capacity,
			   frames->chains_count, sizeof(*frames->chains)))
		return -1;
	place = add_place(frames, function, line);
	if (place == TREE_NONE)
		return -1;
	frames->chains[frames->chains_count++] = (struct chained){function, place};
	frame->function_count++;
	return 0;
}

/*
 * Adds the symbol, or the function inlined there, with the line if names should have it:
 * "NAME FILE:LINE", as in perf's call chains.
 */
static int add_known(struct frames *frames, struct frame *frame,
		     const struct symbol *symbol, const char *inlined,
		     const struct symbol_line *line)
{
	const char *name = inlined ?: symbol->name;
	const char *mangled = inlined ? NULL : symbol->mangled;
	char *with_line;
	int status;

	if (frames->sources->lines != SOURCE_LINES_IN_NAMES || !line || !line->file ||
	    !line->line)
		return add_to_chain(frames, frame,
				    add_function(frames, name, true, mangled), line);
	if (asprintf(&with_line, "%s %s:%" PRIu32, name, line->file, line->line) < 0)
		return -1;
	status = add_to_chain(frames, frame,
			      add_function(frames, with_line, true, mangled), line);
	free(with_line);
	return status;
}

/* Returns the line to show for the symbol itself, with @inlined functions shown
 * separately; NULL if unknown. In a name, the line is that of the address, as in perf. In
 * a field, it must be a line of the function: where the outermost inlined function was
 * called. */
static const struct symbol_line *own_line(const struct frames *frames,
					  const struct symbol *symbol, uint32_t inlined)
{
	if (!symbol->line_count)
		return NULL;
	if (frames->sources->lines == SOURCE_LINES_APART)
		inlined = (uint32_t)symbol->line_count - 1;
	return &symbol->lines[inlined];
}

bool frames_symbol(const struct frames *frames, uint32_t domain, uint64_t address,
		   struct symbol *symbol)
{
	const struct recording_domain *of = summary_domain(frames->summary, domain);

	return mapped_find(frames->sources, of, address, symbol) ||
	       sources_find(frames->sources, of, address, symbol) ||
	       recorded_find(frames->sources->recorded,
			     summary_recorded(frames->summary, domain), address,
			     symbol) ||
	       mapped_find_file(frames->sources, address, symbol);
}

bool frames_by_domain(const struct frames *frames)
{
	return sources_by_domain(frames->sources) ||
	       recorded_by_domain(frames->sources->recorded);
}

uint32_t frames_scope(const struct frames *frames, uint32_t domain)
{
	return sources_by_domain(frames->sources)
		       ? domain
		       : recorded_scope(frames->sources->recorded,
					summary_recorded(frames->summary, domain));
}

uint64_t frames_return_address(const struct frames *frames, uint32_t domain,
			       uint64_t address)
{
	struct symbol call = {0}, behind = {0};
	bool has_call, has_behind;

	if (!address)
		return 0;
	has_call = frames_symbol(frames, domain, address - 1, &call);
	if (has_call && !call.file)
		return call.is_last ? address - 1 : address;
	has_behind = frames_symbol(frames, domain, address, &behind);
	return has_call == has_behind && call.start == behind.start ? address
								    : address - 1;
}

/* Returns the number of the function of an address without a name: the address or, in a
 * mapped file, the place in the file, which is equal in all processes. */
static uint32_t add_unknown(struct frames *frames, uint64_t address,
			    const struct symbol *symbol)
{
	uint32_t function;
	char *name;

	if (asprintf(&name, "%s%s0x%" PRIx64, symbol->is_in_file ? symbol->dso : "",
		     symbol->is_in_file ? "+" : "",
		     symbol->is_in_file ? address - symbol->start : address) < 0)
		return NAMES_NONE;
	function = add_function(frames, name, false, NULL);
	free(name);
	return function;
}

static enum cpu_kind kind_of(const struct frames *frames, uint32_t domain)
{
	const struct recording_domain *of = summary_domain(frames->summary, domain);

	return of ? (enum cpu_kind)of->cpu : CPU_UNKNOWN;
}

static int look_up(struct frames *frames, uint32_t domain, struct frame *frame,
		   enum frame_use use)
{
	uint64_t address = frame->address;
	struct symbol symbol = {0};
	uint32_t inlined = 0;
	char name[EXIT_NAME_SIZE];

	if (use == FRAME_CALLER && address)
		address--;
	frame->first = frames->chains_count;
	if (CHAIN_EXIT_IS(frame->address)) {
		exit_name(frame->address & EXIT_MAX, name);
		symbol = (struct symbol){
			.name = name, .dso = "", .start = frame->address};
	} else if (use == FRAME_CALLER && chain_mark_name(frame->address))
		symbol = (struct symbol){.name = chain_mark_name(frame->address),
					 .dso = "",
					 .start = frame->address};
	else
		frames_symbol(frames, domain, address, &symbol);
	frame->dso = symbol.dso;
	if (!symbol.name) {
		frame->function = add_unknown(frames, frame->address, &symbol);
		return add_to_chain(frames, frame, frame->function, NULL);
	}
	symbols_find_hypercall(&symbol, address, kind_of(frames, domain));
	frame->file = symbol.file;
	if (use == FRAME_CALLER)
		frame->call = symbol.call;
	frame->offset = frame->address - symbol.start;
	while (frames->sources->inlined && inlined + 1 < symbol.line_count) {
		const struct symbol_line *line = &symbol.lines[inlined++];

		if (add_known(frames, frame, &symbol, line->function, line) < 0)
			return -1;
	}
	if (add_known(frames, frame, &symbol, NULL, own_line(frames, &symbol, inlined)) <
	    0)
		return -1;
	frame->function = frames->chains[frame->first].function;
	return 0;
}

/* Appends @frame to the list; -1 if out of memory. */
static int frame_append(struct frames *frames, struct frame frame)
{
	if (!array_reserve(&frames->list, &frames->capacity, frames->count,
			   sizeof(*frames->list)))
		return -1;
	frames->list[frames->count++] = frame;
	return 0;
}

uint32_t frames_find(struct frames *frames, uint32_t domain, uint64_t address,
		     enum frame_use use)
{
	struct frame frame = {.address = address};
	uint32_t parent = tree_intern(&frames->index, use, frames_scope(frames, domain));
	uint32_t node = parent == TREE_NONE
				? TREE_NONE
				: tree_intern(&frames->index, parent, address);

	if (node == TREE_NONE)
		return FRAMES_NONE;
	if (node < frames->count)
		return node;
	while (frames->count < node)
		if (frame_append(frames, (struct frame){0}) < 0)
			return FRAMES_NONE;
	if (look_up(frames, domain, &frame, use) < 0 || frame_append(frames, frame) < 0)
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
	return frames->chains[frame->first + depth].function;
}

uint32_t frames_place_at(const struct frames *frames, const struct frame *frame,
			 uint32_t depth)
{
	return frames->chains[frame->first + depth].place;
}

uint32_t frames_place_of(struct frames *frames, uint32_t function)
{
	return tree_intern(&frames->places, 0, function);
}

struct frame_place frames_place(const struct frames *frames, uint32_t place)
{
	const struct tree_node *node = &frames->places.nodes[place];
	const struct tree_node *function = &frames->places.nodes[node->parent];

	if (!node->parent)
		return (struct frame_place){(uint32_t)node->key, "", 0};
	return (struct frame_place){
		(uint32_t)function->key,
		names_get(frames->paths, (uint32_t)(node->key >> 32)),
		(uint32_t)node->key,
	};
}

uint32_t frames_places(const struct frames *frames)
{
	return frames->places.count;
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

bool frames_function_is_exit(const struct frames *frames, uint32_t function)
{
	const char *name = frames_function_name(frames, function);

	return strncmp(name, "[exit: ", 7) == 0 || strncmp(name, "[hypercall ", 11) == 0;
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
