/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_NAME_LIST_H
#define UNIPROF_FORMAT_NAME_LIST_H

#include "format/buffer.h"
#include "format/recording.h"

/* A chunk of names (FORMAT.md, 5.5), as columns. */

/* Collects names until they are made a chunk of. Starts as zeros. */
struct name_list {
	size_t count;
	uint64_t last; /* address */
	struct buffer domain, address, offset, name, dso;
};

void name_list_free(struct name_list *list);

/* Copies one name in. When memory is short, name_list_finish() fails the payload. */
void name_list_add(struct name_list *list, const struct recording_name *name);

/* Whether a chunk should be made now, so that one more would keep the limits. */
bool name_list_full(const struct name_list *list);

/* Appends the payload of a CHUNK_NAMES, and starts anew. */
void name_list_finish(struct name_list *list, struct buffer *payload);

/* Goes through the names of a payload, which it does not copy. */
struct name_list_reader {
	uint64_t left; /* names */
	uint64_t last; /* address */
	struct cursor domain, address, offset, name, dso;
};

/* Checks all of the payload; -1 when it is damaged. */
int name_list_read(struct name_list_reader *reader, struct cursor payload);

/* The next name, its texts within the payload; false at the end. */
bool name_list_next(struct name_list_reader *reader, struct recording_name *name);

#endif
