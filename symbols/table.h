/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_TABLE_H
#define UNIPROF_SYMBOLS_TABLE_H

/*
 * Inside symbols/ only: what the loaders of one file hand over (entries) and
 * what look-ups run on (regions).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/symbols.h"

/*
 * Functions with a longer name have none. It bounds the time that a hostile ELF
 * file can cost, all of whose symbols may share one string of the file's length.
 */
#define SYMBOLS_NAME_MAX 65535

/* Where an entry's range ends when the next symbol does not end it before. */
enum symbols_extent {
	EXTENT_SIZED,	/* at @last, wherever the next symbol is */
	EXTENT_LIMITED, /* at the next symbol, but not beyond @last */
	EXTENT_OPEN,	/* like LIMITED, but up to a next symbol of its own group */
};

/*
 * Ranks of an entry among others at the same address, a binding and perhaps
 * RANK_TYPED added up. That weighs most, as global labels that only mark a place
 * (_stext) are not what a static function there is known by.
 */
enum symbols_rank {
	RANK_WEAK = 0,
	RANK_LOCAL = 1,
	RANK_GLOBAL = 2,
	RANK_TYPED = 4, /* known to be a function and not just a label */
};

/* One symbol as a file gives it. */
struct symbols_entry {
	uint64_t start;
	uint64_t last;	  /* inclusive, as a range may reach up to 2^64 - 1 */
	const char *name; /* NULL: not a function, only ends the one before */
	uint32_t group;	  /* kernel module, counted; see EXTENT_OPEN */
	uint32_t order;	  /* in the file; symbols_entries_add() sets it */
	uint16_t length;  /* of the name */
	uint8_t rank;
	uint8_t extent;
};

struct symbols_block;

/* The symbols of one file and the memory that their names lie in. */
struct symbols_entries {
	struct symbols_entry *list;
	size_t count, room;
	struct symbols_block *blocks;
};

/* Adds one; -1 when memory is short or there are too many. */
int symbols_entries_add(struct symbols_entries *entries,
			const struct symbols_entry *entry, const char *path,
			struct error *err);

/* @size bytes for names, which live until symbols_blocks_free(); NULL when short. */
char *symbols_block_new(struct symbols_block **blocks, size_t size);
void symbols_blocks_free(struct symbols_block *blocks);

/* Names that assemblers leave behind inside functions: .L12, $x, $d.3 */
bool symbols_is_local_label(const char *name, size_t length);

/* From here up to the next region's start, addresses have this name. */
struct symbols_region {
	uint64_t from;
	uint64_t start;	   /* of the function; before @from behind a nested one */
	const char *name;  /* NULL: no name */
	const char *shown; /* what it was made for people; NULL until it was asked for */
};

/*
 * Turns entries, in any order, into regions in ascending order without
 * overlaps, which the caller frees. @entries' list is used up on the way. Counts
 * the functions in @functions; no function is no error. -1 when memory is short.
 */
int symbols_regions_make(struct symbols_entries *entries, struct symbols_region **regions,
			 size_t *count, size_t *functions);

/*
 * The loader of lists. @data is not changed and not needed afterwards. It fills
 * @entries, @file's kind; -1 with one line in @err, which begins with @path.
 */
int symbols_load_text(const void *data, size_t size, const char *path,
		      struct symbols_entries *entries, struct symbols_file *file,
		      struct error *err);

/* What is added to a file's addresses. */
struct symbols_offset {
	bool down;
	uint64_t distance;
};

/* symbols_add() for a file's content that is in memory already. */
int symbols_add_memory(struct symbols *symbols, const char *path,
		       struct symbols_offset offset, const void *data, size_t size,
		       struct error *err);

#endif
