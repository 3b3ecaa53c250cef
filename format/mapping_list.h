/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_MAPPING_LIST_H
#define UNIPROF_FORMAT_MAPPING_LIST_H

#include "format/buffer.h"
#include "format/recording.h"

/* The payload of a CHUNK_MAPPINGS: mappings as columns (FORMAT.md, 5.9). */

/* The columns of the payload, by their tags. */
enum mappings_tag {
	MAPPINGS_COUNT = 1,
	MAPPINGS_DOMAIN = 2,
	MAPPINGS_SPACE = 3,
	MAPPINGS_PID = 4,
	MAPPINGS_TIME = 5,
	MAPPINGS_START = 6,
	MAPPINGS_SIZE = 7,
	MAPPINGS_OFFSET = 8,
	MAPPINGS_PATH = 9,
	MAPPINGS_BUILD_ID = 10,
	MAPPINGS_TAGS
};

/* The mappings of a chunk under construction. Starts zeroed. */
struct mapping_list {
	size_t count;
	struct recording_mapping last; /* without its texts */
	struct buffer column[MAPPINGS_TAGS];
};

void mapping_list_free(struct mapping_list *list);

/* Adds a copy of one mapping. If out of memory, mapping_list_finish() marks the payload
 * as failed. */
void mapping_list_add(struct mapping_list *list, const struct recording_mapping *mapping);

/* Returns whether the chunk should be written now, because more mappings could exceed its
 * limits. */
bool mapping_list_full(const struct mapping_list *list);

/* Appends the payload of a CHUNK_MAPPINGS and empties the list. */
void mapping_list_finish(struct mapping_list *list, struct buffer *payload);

/* An iterator over the mappings of a payload, which is not copied. */
struct mapping_list_reader {
	uint64_t left; /* number of mappings not read yet */
	struct recording_mapping last;
	struct cursor column[MAPPINGS_TAGS];
};

/* Returns the number of mappings that a payload claims to have; 0 if it can't be read. */
uint64_t mapping_list_count(struct cursor payload);

/* Checks the whole payload, and starts reading it. -1 if it is damaged. */
int mapping_list_read(struct mapping_list_reader *reader, struct cursor payload);

/* Gets the next mapping; false at the end. Its texts point into the payload. */
bool mapping_list_next(struct mapping_list_reader *reader,
		       struct recording_mapping *mapping);

#endif
