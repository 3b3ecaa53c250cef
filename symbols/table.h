/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_TABLE_H
#define UNIPROF_SYMBOLS_TABLE_H

/*
 * For symbols/ and tables/code/elf.c: the output of the loaders of one file
 * (entries), and the tables for lookups (regions).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "symbols/symbols.h"

/*
 * Functions with a longer name stay unnamed. This bounds the time that a hostile ELF file
 * can cost: all of its symbols may share one string as long as the file.
 */
#define SYMBOLS_NAME_MAX 65535

/* Where an entry's range ends, unless the next symbol ends it earlier. */
enum symbols_extent {
	EXTENT_SIZED,	/* at @last, even if the next symbol starts before */
	EXTENT_LIMITED, /* at the next symbol, but not beyond @last */
	EXTENT_OPEN,	/* like LIMITED, but up to the next symbol of its own group */
};

/*
 * The rank of an entry among others at the same address: a binding, plus RANK_TYPED for
 * functions. RANK_TYPED weighs most, because a static function is a better name than a
 * global label (_stext) at its start.
 */
enum symbols_rank {
	RANK_WEAK = 0,
	RANK_LOCAL = 1,
	RANK_GLOBAL = 2,
	RANK_TYPED = 4, /* known to be a function and not just a label */
};

/* One symbol of a file. */
struct symbols_entry {
	uint64_t start;
	uint64_t last;	  /* inclusive, because a range may extend to 2^64 - 1 */
	const char *name; /* NULL: not a function, only ends the previous one */
	uint32_t group;	  /* number of the kernel module, for EXTENT_OPEN */
	uint32_t order;	  /* position in the file; set by symbols_entries_add() */
	uint16_t length;  /* length of the name, bytes */
	uint8_t rank;
	uint8_t extent;
};

struct symbols_block;

/* The symbols of one file and the memory that holds their names. */
struct symbols_entries {
	struct symbols_entry *list;
	size_t count, room;
	struct symbols_block *blocks;
};

/* Adds an entry; -1 if out of memory, or if there are too many. */
int symbols_entries_add(struct symbols_entries *entries,
			const struct symbols_entry *entry, const char *path,
			struct error *err);

/* Allocates @size bytes for names, valid until symbols_blocks_free(); NULL if out of
 * memory. */
char *symbols_block_new(struct symbols_block **blocks, size_t size);
void symbols_blocks_free(struct symbols_block *blocks);

/* Returns whether the name is an assembler's label inside a function: .L12, $x, $d.3,
 * ..@36.out */
bool symbols_is_local_label(const char *name, size_t length);

/* Returns whether the name is a label at the start or end of an OCaml module's code,
 * which ends the function before it: camlMain.code_begin, camlMain.code_end */
bool symbols_is_module_bound(const char *name, size_t length);

/*
 * Drops entries of ELF files that have neither the type nor the size of a function, if
 * they lie within a typed function, or are named after the function before them, as NASM
 * names local labels (copy.loop in copy). Other such entries stay: hand-written code has
 * no better ones. Sorts the list by address.
 */
void symbols_entries_drop_labels(struct symbols_entries *entries);

/*
 * Returns whether @a is a better name for its address than @b. The choice is perf's, so
 * that reports match what perf prints for a recording converted to perf.data (Linux,
 * tools/perf/util/symbol.c, choose_best_symbol). Labels are the exception, see enum
 * symbols_rank.
 */
bool symbols_entry_is_better(const struct symbols_entry *a,
			     const struct symbols_entry *b);

/* Returns the rank of a function with this letter in nm's output; -1 if it is none. */
int symbols_rank_of(char type);

/* The name of the addresses from @from up to the next region's @from. */
struct symbols_region {
	uint64_t from;
	uint64_t start;	   /* start of the function; below @from after a nested one */
	const char *name;  /* NULL: no name */
	const char *shown; /* demangled name; NULL until first used */
};

/*
 * Converts entries, in any order, to regions in ascending order without overlaps; the
 * caller frees them. Destroys the list in @entries. Counts the functions in *@functions,
 * of which there may be none. -1 if out of memory.
 */
int symbols_regions_make(struct symbols_entries *entries, struct symbols_region **regions,
			 size_t *count, size_t *functions);

/*
 * Loads a symbol list in text form. @data is not changed and not needed afterwards. Fills
 * @entries and the kind of @file. -1 with one line in @err, which starts with @path.
 */
int symbols_load_text(const void *data, size_t size, const char *path,
		      struct symbols_entries *entries, struct symbols_file *file,
		      struct error *err);

/* The offset added to a file's addresses. */
struct symbols_offset {
	bool is_given; /* also if the distance is 0 */
	bool down;
	uint64_t distance;
};

/* Like symbols_add(), for file contents in memory. */
int symbols_add_memory(struct symbols *symbols, const char *path,
		       struct symbols_offset offset, const void *data, size_t size,
		       struct error *err);

#endif
