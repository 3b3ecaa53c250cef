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
	uint64_t mark;	 /* of the recording */
	uint64_t number; /* counts from 0 */
};

/* The mark of a recording whose first payload, without its place, is @info. */
uint64_t place_mark(const struct buffer *info);

/* Appends the field to an empty payload. */
void place_put(struct buffer *payload, uint64_t mark, uint64_t number);

/* The place of a chunk; not known if the first field is another, or damaged. */
struct chunk_place place_of(struct cursor payload);

/* The payload without its place. */
struct cursor place_skip(struct cursor payload);

/* Compares the places of the chunks of a recording. Starts zeroed. */
struct sequence {
	bool has_mark; /* a chunk had a place */
	uint64_t mark;
	uint64_t next; /* number */
};

/*
 * Takes the next chunk. False if it doesn't belong here: it is of another recording, or
 * is repeated or moved, which can't be told apart. Otherwise, *@missing is the number of
 * chunks that are missing before it.
 */
bool sequence_take(struct sequence *sequence, const struct chunk_place *place,
		   uint64_t *missing);

#endif
