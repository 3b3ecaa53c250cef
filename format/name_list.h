/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_NAME_LIST_H
#define UNIPROF_FORMAT_NAME_LIST_H

#include "format/buffer.h"
#include "format/recording.h"

/* The payload of a CHUNK_NAMES: names as columns (FORMAT.md, 5.5). */

/* The names of a chunk under construction. Starts zeroed. */
struct name_list {
	size_t count, lines;
	uint64_t last; /* address of the last name */
	struct buffer domain, address, offset, name, dso, kind, line_count;
	struct buffer function, path, line; /* columns of lines */
	struct buffer file_path, file_build_id;
	bool has_kinds, has_files;
};

void name_list_free(struct name_list *list);

/* Adds a copy of one name. If out of memory, name_list_finish() marks the payload as
 * failed. */
void name_list_add(struct name_list *list, const struct recording_name *name);

/* Returns whether the chunk should be written now, because more names could exceed its
 * limits. */
bool name_list_full(const struct name_list *list);

/* Appends the payload of a CHUNK_NAMES and empties the list. */
void name_list_finish(struct name_list *list, struct buffer *payload);

/* An iterator over the names of a payload, which is not copied. */
struct name_list_reader {
	uint64_t left;	     /* number of names not read yet */
	uint64_t lines_left; /* number of lines not read yet */
	uint64_t last;	     /* address of the last name */
	struct cursor domain, address, offset, name, dso, kind, line_count;
	struct cursor function, path, line;
	struct cursor file_path, file_build_id;
	struct recording_line lines[RECORDING_MAX_LINES]; /* of the last name */
};

/* Returns the number of names and lines that a payload claims to have; 0 if it can't be
 * read. */
uint64_t name_list_count(struct cursor payload);

/* Checks the whole payload, and starts reading it. -1 if it is damaged. */
int name_list_read(struct name_list_reader *reader, struct cursor payload);

/* Gets the next name; false at the end. Its texts point into the payload; its lines are
 * valid until the next call. */
bool name_list_next(struct name_list_reader *reader, struct recording_name *name);

#endif
