/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_READER_H
#define UNIPROF_FORMAT_READER_H

#include "base/error.h"
#include "format/chunk.h"
#include "format/recording.h"
#include "format/samples.h"

/* Reads a recording from start to end, from a file or a pipe. */
struct reader;

/* What was wrong with it so far. */
struct damage {
	uint64_t bytes;	 /* passed over: no intact chunk */
	uint64_t places; /* how many times intact chunks were left */
	uint64_t first;	 /* offset of the first such byte */
	bool cut;	 /* it ends inside a chunk */
};

/* Reads from @fd, which stays the caller's. NULL when memory is short. */
struct reader *reader_new(int fd);
void reader_free(struct reader *reader);

/*
 * Goes to the next intact chunk: 1 and its type (perhaps one that this version
 * does not know) and payload, which is valid until the next call; 0 at the
 * end; -1 when reading fails, and when no chunk is found in a whole chunk's
 * length at the start: it is no recording.
 */
int reader_next(struct reader *reader, unsigned int *type, struct cursor *payload,
		struct error *err);

const struct damage *reader_damage(const struct reader *reader);
/* Bytes taken in so far. */
uint64_t reader_offset(const struct reader *reader);

#endif
