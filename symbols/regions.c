/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define FIRST_ROOM  1024
#define ENTRIES_MAX ((size_t)1 << 24)
#define NONE	    UINT32_MAX

struct symbols_block {
	struct symbols_block *next;
	char bytes[];
};

char *symbols_block_new(struct symbols_block **blocks, size_t size)
{
	struct symbols_block *block;

	if (size > SIZE_MAX - sizeof(*block))
		return NULL;
	block = malloc(sizeof(*block) + size);
	if (!block)
		return NULL;
	block->next = *blocks;
	*blocks = block;
	return block->bytes;
}

void symbols_blocks_free(struct symbols_block *blocks)
{
	while (blocks) {
		struct symbols_block *next = blocks->next;

		free(blocks);
		blocks = next;
	}
}

int symbols_entries_add(struct symbols_entries *entries,
			const struct symbols_entry *entry, const char *path,
			struct error *err)
{
	if (entries->count == ENTRIES_MAX)
		return error_set(err, "%s: contains more than %zu symbols", path,
				 ENTRIES_MAX);
	if (entries->count == entries->room) {
		size_t room = entries->room ? entries->room * 2 : FIRST_ROOM;

		if (!array_grow(&entries->list, room, sizeof(*entries->list)))
			return error_set(err, "%s: out of memory", path);
		entries->room = room;
	}
	entries->list[entries->count] = *entry;
	entries->list[entries->count].order = (uint32_t)entries->count;
	entries->count++;
	return 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct symbols_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->group != b->group)
		return a->group < b->group ? -1 : 1;
	return 0;
}

static void sort_entries(struct symbols_entry *list, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		if (compare_entries(&list[i - 1], &list[i]) > 0) {
			qsort(list, count, sizeof(*list), compare_entries);
			return;
		}
	}
}

static size_t underscores(const struct symbols_entry *entry)
{
	size_t count = 0;

	while (count < entry->length && entry->name[count] == '_')
		count++;
	return count;
}

bool symbols_entry_is_better(const struct symbols_entry *a, const struct symbols_entry *b)
{
	size_t a_underscores, b_underscores;

	if (!a->name || !b->name)
		return a->name != NULL;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	a_underscores = underscores(a);
	b_underscores = underscores(b);
	if (a_underscores != b_underscores)
		return a_underscores < b_underscores;
	if (a->length != b->length)
		return a->length > b->length;
	return a->order < b->order;
}

/* Reduces the list to one entry per address: the best name, with the largest size of its
 * aliases. */
static size_t merge_aliases(struct symbols_entry *list, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count;) {
		struct symbols_entry best = list[i];
		const struct symbols_entry *sized = NULL;
		size_t next;

		for (next = i; next < count && list[next].start == best.start; next++) {
			const struct symbols_entry *alias = &list[next];

			if (symbols_entry_is_better(alias, &best))
				best = *alias;
			if (alias->name && alias->extent == EXTENT_SIZED &&
			    (!sized || alias->last > sized->last))
				sized = alias;
		}
		if (sized) {
			best.last = sized->last;
			best.extent = EXTENT_SIZED;
		}
		list[kept++] = best;
		i = next;
	}
	return kept;
}

/* Sets the last address of each entry. */
static void end_ranges(struct symbols_entry *list, size_t count)
{
	for (size_t i = 0; i + 1 < count; i++) {
		struct symbols_entry *entry = &list[i];
		const struct symbols_entry *next = &list[i + 1];

		if (entry->extent == EXTENT_SIZED)
			continue;
		if (next->start - 1 < entry->last ||
		    (entry->extent == EXTENT_OPEN && entry->group == next->group))
			entry->last = next->start - 1;
	}
}

/* The state of a sweep over the addresses: the regions so far, and the functions that
 * extend past the last region's start. */
struct sweep {
	const struct symbols_entry *list;
	uint32_t *outer; /* for each function, the outer function around it */
	uint32_t top;	 /* the innermost function at this point */
	struct symbols_region *regions;
	size_t count;
};

static void begin_region(struct sweep *sweep, uint64_t from)
{
	const struct symbols_entry *entry = sweep->top == NONE ? NULL
							       : &sweep->list[sweep->top];

	/* A function that ends where another starts leaves an empty region. */
	if (sweep->count && sweep->regions[sweep->count - 1].from == from)
		sweep->count--;
	sweep->regions[sweep->count++] = (struct symbols_region){
		.from = from,
		.start = entry ? entry->start : 0,
		.name = entry ? entry->name : NULL,
	};
}

/* Ends the functions whose last address is before @limit. */
static void end_functions(struct sweep *sweep, uint64_t limit)
{
	while (sweep->top != NONE && sweep->list[sweep->top].last < limit) {
		uint64_t behind = sweep->list[sweep->top].last + 1;

		do
			sweep->top = sweep->outer[sweep->top];
		while (sweep->top != NONE && sweep->list[sweep->top].last < behind);
		begin_region(sweep, behind);
	}
}

int symbols_regions_make(struct symbols_entries *entries, struct symbols_region **regions,
			 size_t *count, size_t *functions)
{
	struct symbols_entry *list = entries->list;
	struct sweep sweep = {.list = list, .top = NONE};
	struct symbols_region *fitted;
	size_t n;

	*functions = 0;
	sort_entries(list, entries->count);
	n = merge_aliases(list, entries->count);
	end_ranges(list, n);

	/* Each function starts one region and, at its end, at most one more. */
	sweep.outer = calloc(n + 1, sizeof(*sweep.outer));
	sweep.regions = calloc(n + 1, 2 * sizeof(*sweep.regions));
	if (!sweep.outer || !sweep.regions) {
		free(sweep.outer);
		free(sweep.regions);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		if (!list[i].name)
			continue;
		++*functions;
		end_functions(&sweep, list[i].start);
		sweep.outer[i] = sweep.top;
		sweep.top = (uint32_t)i;
		begin_region(&sweep, list[i].start);
	}
	end_functions(&sweep, UINT64_MAX);
	free(sweep.outer);

	fitted = realloc(sweep.regions, (sweep.count + 1) * sizeof(*fitted));
	*regions = fitted ? fitted : sweep.regions;
	*count = sweep.count;
	return 0;
}
