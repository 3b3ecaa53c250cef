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
	uint64_t bytes;	 /* skipped, not part of an intact chunk */
	uint64_t places; /* number of consecutive runs of such bytes */
	uint64_t first;	 /* offset of the first such byte */
	bool cut;	 /* the file ends inside a chunk */
	/* Set by load_recording(): intact chunks out of place, whose bytes are counted
	 * above, and chunks missing where no byte was skipped. */
	uint64_t out_of_place, missing;
};

/* Reads from @fd, which the caller closes. NULL if out of memory. */
struct reader *reader_new(int fd);
void reader_free(struct reader *reader);

/* From now on, reading fails as soon as @stop (such as an eventfd) is readable, even
 * while waiting for a pipe. */
void reader_stop_at(struct reader *reader, int stop);

/*
 * From now on, the recording may still be written: reader_next() doesn't wait, but
 * returns 0 if the next chunk is not complete yet, and may be called again. The end of a
 * file is never final then, that of a pipe is.
 */
void reader_follow(struct reader *reader);
/* Whether the end was reached, and nothing can follow. */
bool reader_ended(const struct reader *reader);

/*
 * Moves to the next intact chunk. Returns 1 with its type, which may be unknown to this
 * version, and its payload, which is valid until the next call; 0 at the end; -1 on a
 * read error, or if no chunk is found within the maximum size of a chunk from the start:
 * then the file is not a recording.
 */
int reader_next(struct reader *reader, unsigned int *type, struct cursor *payload,
		struct error *err);

const struct damage *reader_damage(const struct reader *reader);
/* Number of bytes consumed so far. */
uint64_t reader_offset(const struct reader *reader);

#endif
