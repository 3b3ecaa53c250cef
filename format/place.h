/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_PLACE_H
#define UNIPROF_FORMAT_PLACE_H

#include "format/buffer.h"

/*
 * A chunk's place: the recording it belongs to, and its number there (FORMAT.md, 5.6). It
 * is the first field of the payload. Recordings of uniprof 0.1 have none.
 */
struct chunk_place {
	bool is_known;
	uint64_t mark;	 /* mark of the recording */
	uint64_t number; /* number of the chunk in the recording, from 0 */
};

/* Returns the mark of a recording whose INFO payload, without its place, is @info. */
uint64_t place_mark(const struct buffer *info);

/* Appends a place to an empty payload. */
void place_put(struct buffer *payload, uint64_t mark, uint64_t number);

/* Returns the place of a chunk with this payload; not known if the first field is damaged
 * or not a place. */
struct chunk_place place_of(struct cursor payload);

/* Returns the payload without its place. */
struct cursor place_skip(struct cursor payload);

/* The state of a check of a recording's chunks, in order. Starts zeroed. */
struct sequence {
	bool has_mark; /* an earlier chunk had a place */
	uint64_t mark;
	uint64_t next; /* number of the next chunk */
};

/*
 * Checks the place of the next chunk. False if the chunk is out of place: from another
 * recording, repeated, or moved. Otherwise, *@missing is the number of chunks missing
 * before it.
 */
bool sequence_take(struct sequence *sequence, const struct chunk_place *place,
		   uint64_t *missing);

#endif
