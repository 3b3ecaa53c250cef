/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_READER_H
#define UNIPROF_FORMAT_READER_H

#include "base/error.h"
#include "format/chunk.h"
#include "format/recording.h"
#include "format/samples.h"

/* Reads a recording from start to end, from a file or a pipe. */
struct reader;

/* The damage found so far. */
struct damage {
	uint64_t bytes;	 /* number of skipped bytes, in no intact chunk */
	uint64_t places; /* number of runs of skipped bytes */
	uint64_t first;	 /* offset of the first skipped byte */
	bool cut;	 /* the file ends inside a chunk */
	/* Set by load_recording(): intact chunks out of place, whose bytes are counted
	 * above, and chunks missing where no byte was skipped. */
	uint64_t out_of_place, missing;
};

/* Reads from @fd, which the caller closes. NULL if out of memory. */
struct reader *reader_new(int fd);
void reader_free(struct reader *reader);

/* Makes reading fail from now on as soon as @stop (such as an eventfd) is readable, even
 * while waiting for a pipe. */
void reader_stop_at(struct reader *reader, int stop);

/*
 * Reads a recording that is still being written: from now on, reader_next() doesn't wait,
 * but returns 0 if the next chunk is not complete yet, and may be called again. The end
 * of a file is then never final; the end of a pipe is.
 */
void reader_follow(struct reader *reader);
/* Decodes chunks of these two types only, from now on: reader_next() passes over all
 * others, whose contents it does not check. */
void reader_only(struct reader *reader, enum chunk_type one, enum chunk_type other);

/* Returns whether the end was reached and nothing can follow. */
bool reader_ended(const struct reader *reader);

/*
 * Moves to the next intact chunk. Returns 1 with its type, which may be unknown to this
 * version, and its payload, which is valid until the next call; 0 at the end; -1 on a
 * read error, or if the file is not a recording: it has no chunk within the maximum size
 * of a chunk from its start.
 */
int reader_next(struct reader *reader, unsigned int *type, struct cursor *payload,
		struct error *err);

/* Returns the bytes of the chunk that reader_next() returned, header included, valid
 * until its next call. */
struct cursor reader_whole(const struct reader *reader);

const struct damage *reader_damage(const struct reader *reader);
/* Returns the number of bytes consumed so far. */
uint64_t reader_offset(const struct reader *reader);

#endif
