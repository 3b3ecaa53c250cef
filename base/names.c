/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"

#define FIRST_SLOTS 1024

struct names {
	char **list;
	uint32_t *hashes;
	uint32_t count, capacity;
	uint32_t *slots; /* number of the name plus 1; 0: free */
	uint32_t slot_count;
	uint64_t seed;
};

struct names *names_new(void)
{
	struct names *names = calloc(1, sizeof(*names));

	if (!names)
		return NULL;
	names->seed = hash_seed();
	names->slot_count = FIRST_SLOTS;
	names->capacity = FIRST_SLOTS / 2;
	names->slots = calloc(names->slot_count, sizeof(*names->slots));
	names->list = malloc(names->capacity * sizeof(*names->list));
	names->hashes = malloc(names->capacity * sizeof(*names->hashes));
	if (!names->slots || !names->list || !names->hashes) {
		names_free(names);
		return NULL;
	}
	return names;
}

void names_free(struct names *names)
{
	if (!names)
		return;
	for (uint32_t i = 0; i < names->count; i++)
		free(names->list[i]);
	free(names->list);
	free(names->hashes);
	free(names->slots);
	free(names);
}

static uint32_t hash_of(const struct names *names, const char *name)
{
	uint64_t hash = hash_bytes(name, strlen(name), names->seed);

	return (uint32_t)(hash ^ hash >> 32);
}

/* Returns the slot that holds the name, or the free slot where it belongs. */
static uint32_t slot_of(const struct names *names, const char *name, uint32_t hash)
{
	uint32_t slot = hash & (names->slot_count - 1);

	while (names->slots[slot]) {
		uint32_t number = names->slots[slot] - 1;

		if (names->hashes[number] == hash && !strcmp(names->list[number], name))
			break;
		slot = (slot + 1) & (names->slot_count - 1);
	}
	return slot;
}

/* Doubles the space for names, and the table, which stays at most half full. */
static int names_grow(struct names *names)
{
	uint32_t capacity = names->capacity * 2, slot_count = names->slot_count * 2;
	uint32_t *slots;

	if (names->capacity > NAMES_NONE / 8)
		return -1;
	if (!array_grow(&names->list, capacity, sizeof(*names->list)) ||
	    !array_grow(&names->hashes, capacity, sizeof(*names->hashes)))
		return -1;
	slots = calloc(slot_count, sizeof(*slots));
	if (!slots)
		return -1;
	free(names->slots);
	names->slots = slots;
	names->slot_count = slot_count;
	names->capacity = capacity;
	for (uint32_t i = 0; i < names->count; i++)
		slots[slot_of(names, names->list[i], names->hashes[i])] = i + 1;
	return 0;
}

uint32_t names_intern(struct names *names, const char *name)
{
	char *clean = malloc(strlen(name) + 1);
	uint32_t hash, slot;

	if (!clean)
		return NAMES_NONE;
	text_clean(clean, name);
	hash = hash_of(names, clean);
	slot = slot_of(names, clean, hash);
	if (names->slots[slot]) {
		free(clean);
		return names->slots[slot] - 1;
	}
	if (names->count == names->capacity) {
		if (names_grow(names) < 0) {
			free(clean);
			return NAMES_NONE;
		}
		slot = slot_of(names, clean, hash);
	}
	names->list[names->count] = clean;
	names->hashes[names->count] = hash;
	names->slots[slot] = ++names->count;
	return names->count - 1;
}

uint32_t names_count(const struct names *names)
{
	return names->count;
}

const char *names_get(const struct names *names, uint32_t number)
{
	return names->list[number];
}
