/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/recorded.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/names.h"
#include "base/tree.h"

struct place {
	uint64_t offset;
	uint32_t name, dso; /* texts; NAMES_NONE: the node has no name */
};

struct recorded {
	struct tree index;    /* one root, then domains, then addresses */
	struct place *places; /* by node */
	uint32_t count, capacity;
	struct names *texts;
};

struct recorded *recorded_new(void)
{
	struct recorded *recorded = calloc(1, sizeof(*recorded));

	if (!recorded)
		return NULL;
	recorded->texts = names_new();
	if (!recorded->texts || tree_init(&recorded->index, 1) < 0) {
		recorded_free(recorded);
		return NULL;
	}
	return recorded;
}

void recorded_free(struct recorded *recorded)
{
	if (!recorded)
		return;
	tree_free(&recorded->index);
	free(recorded->places);
	if (recorded->texts)
		names_free(recorded->texts);
	free(recorded);
}

bool recorded_any(const struct recorded *recorded)
{
	return recorded->count > 0;
}

static uint32_t intern(struct recorded *recorded, struct recording_text text)
{
	char *copy = strndup(text.at, text.length);
	uint32_t number = copy ? names_intern(recorded->texts, copy) : NAMES_NONE;

	free(copy);
	return number;
}

/* Makes room for all nodes; new ones have no name. */
static int make_room(struct recorded *recorded)
{
	if (recorded->index.count > recorded->capacity) {
		if (!array_grow(&recorded->places, recorded->index.capacity,
				sizeof(*recorded->places)))
			return -1;
		recorded->capacity = recorded->index.capacity;
	}
	while (recorded->count < recorded->index.count)
		recorded->places[recorded->count++].name = NAMES_NONE;
	return 0;
}

static int add(struct recorded *recorded, const struct recording_name *name,
	       uint32_t base)
{
	uint32_t domain = tree_intern(&recorded->index, 0, (uint64_t)name->domain + base);
	uint32_t node = domain == TREE_NONE
				? TREE_NONE
				: tree_intern(&recorded->index, domain, name->address);
	struct place place = {.offset = name->offset};

	if (node == TREE_NONE || make_room(recorded) < 0)
		return -1;
	if (recorded->places[node].name != NAMES_NONE)
		return 0;
	place.dso = intern(recorded, name->dso);
	place.name = intern(recorded, name->name);
	if (place.dso == NAMES_NONE || place.name == NAMES_NONE)
		return -1;
	recorded->places[node] = place;
	return 0;
}

int recorded_add(struct recorded *recorded, struct name_list_reader names, uint32_t base)
{
	struct recording_name name;

	while (name_list_next(&names, &name))
		if (add(recorded, &name, base) < 0)
			return -1;
	return 0;
}

bool recorded_find(const struct recorded *recorded, uint32_t domain, uint64_t address,
		   struct symbol *symbol)
{
	uint32_t parent = tree_find(&recorded->index, 0, domain);
	uint32_t node = parent == TREE_NONE
				? TREE_NONE
				: tree_find(&recorded->index, parent, address);
	const struct place *place;

	if (node == TREE_NONE)
		return false;
	place = &recorded->places[node];
	*symbol = (struct symbol){
		.name = names_get(recorded->texts, place->name),
		.dso = names_get(recorded->texts, place->dso),
		.start = address - place->offset,
	};
	if (*symbol->dso && strcmp(symbol->name, RECORDING_NO_NAME) == 0)
		symbol->name = NULL;
	return true;
}
