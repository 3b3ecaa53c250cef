/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_TABLE_H
#define UNIPROF_COMMANDS_TOP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many branches can differ from the others in being open or closed. */
#define TABLE_EXCEPTIONS 256

/* A line below the heading: a function or, in a call tree, one on a branch. */
struct table_row {
	const char *text, *name; /* the name is the text's end */
	/* Column of the line that the branch hangs on; of a row that goes on with a
	 * branch, that of the branch. */
	size_t level;
	size_t branch; /* the row that begins this branch */
	size_t parent; /* the row that begins the branch below which this branch is */
	uint64_t key;  /* of the names from the root to here */
	uint64_t last; /* of the row that begins a branch: key of the branch's last row so
			  far */
	bool has_more; /* rows follow below */
};

/* A report as lines, a cursor in it, and branches of a tree that are open or closed. */
struct table {
	char *text;	      /* its lines end with 0 */
	char **heading;	      /* lines that begin with '#'; point into @text */
	size_t heading_count; /* the last one has the names of a histogram's columns */
	struct table_row *rows;
	size_t row_count, row_room;
	size_t *shown; /* rows that are not in a closed branch */
	size_t shown_count;
	size_t cursor,
		first; /* index in @shown: of the cursor, of the first visible row */
	size_t page;   /* rows that fit below the heading */
	bool is_tree;
	bool is_closed; /* branches are closed, but for the exceptions; otherwise open */
	uint64_t exceptions[TABLE_EXCEPTIONS]; /* keys of rows */
	size_t exception_count;
	uint64_t seed;
};

/* Starts from zeros. */
void table_free(struct table *table);

/* Replaces the lines by those of @text, a report, which it owns from now on. The cursor
 * stays with its row, unless it was at the top. */
void table_set(struct table *table, char *text, bool is_tree);

/* Sets how many rows fit below the heading. */
void table_set_page(struct table *table, size_t rows);

/* Moves the cursor down by @rows, or up if negative, as far as there are rows. */
void table_move(struct table *table, long rows);

/* Opens or closes all branches, with the cursor at the top. */
void table_open_all(struct table *table, bool is_open);

/* Opens or closes the branch of the cursor. */
void table_toggle(struct table *table);

/* Opens the outermost branch that begins with the function, and moves the cursor there,
 * if there is one. */
void table_open(struct table *table, const char *name);

/* The row of the cursor; NULL if there are no rows. */
const struct table_row *table_at_cursor(const struct table *table);

/* Whether the row begins a branch that is closed. */
bool table_is_closed(const struct table *table, const struct table_row *row);

#endif
