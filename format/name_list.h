/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_NAME_LIST_H
#define UNIPROF_FORMAT_NAME_LIST_H

#include "format/buffer.h"
#include "format/recording.h"

/* A chunk of names (FORMAT.md, 5.5), as columns. */

/* Collects names for a chunk. Starts zeroed. */
struct name_list {
	size_t count, lines;
	uint64_t last; /* address */
	struct buffer domain, address, offset, name, dso, kind, line_count;
	struct buffer function, path, line; /* of lines */
	bool has_kinds;
};

void name_list_free(struct name_list *list);

/* Adds a copy of one name. If out of memory, name_list_finish() marks the payload as
 * failed. */
void name_list_add(struct name_list *list, const struct recording_name *name);

/* Whether a chunk should be written now, because more names may exceed its limits. */
bool name_list_full(const struct name_list *list);

/* Appends the payload of a CHUNK_NAMES and empties the list. */
void name_list_finish(struct name_list *list, struct buffer *payload);

/* Iterates over the names of a payload, without copying it. */
struct name_list_reader {
	uint64_t left;	     /* names */
	uint64_t lines_left; /* of all of them */
	uint64_t last;	     /* address */
	struct cursor domain, address, offset, name, dso, kind, line_count;
	struct cursor function, path, line;
	struct recording_line lines[RECORDING_MAX_LINES]; /* of the last name */
};

/* How many names and lines a payload says it has; 0 if it can't be read. */
uint64_t name_list_count(struct cursor payload);

/* Checks the whole payload; -1 if it is damaged. */
int name_list_read(struct name_list_reader *reader, struct cursor payload);

/* The next name, with texts that point into the payload, and lines that are valid until
 * the next call; false at the end. */
bool name_list_next(struct name_list_reader *reader, struct recording_name *name);

#endif
