/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_AHEAD_H
#define UNIPROF_REPORT_LOAD_AHEAD_H

#include "format/place.h"
#include "format/sums.h"
#include "report/load/replay.h"
#include "report/load/summary.h"

/*
 * The chunks of a recording, in order, read ahead by threads: one thread at a time reads
 * the next chunk; decoding and unwinding are parallel. The result doesn't depend on the
 * number of threads; a small recording is read without any.
 */
struct ahead;

/* How captured stacks are unwound. */
struct ahead_stacks {
	struct replay *replay;
	/* Has the domains. They may be added while a chunk of type CHUNK_DOMAIN is
	 * handled, and not at other times. */
	const struct summary *summary;
};

struct ahead_chunk {
	int status; /* reader_next()'s; unless it is 1, only the next ones are set: */
	struct error why; /* for -1, and end and damage */
	unsigned int type;
	struct buffer payload; /* unless it is a chunk of samples, which is decoded */
	size_t payload_size;
	struct chunk_place place;
	struct samples_batch batch; /* for a chunk of samples, */
	bool is_decoded;	    /* if its payload is valid, */
	size_t nodes;		    /* of its payload's call tree, roots included, */
	struct summary summary;	    /* their sums, */
	bool is_summed_up;	    /* unless out of memory, or stacks were left */
	uint64_t start, end;	    /* offsets in the recording */
	struct damage damage;	    /* what the reader skipped so far */
};

/* Reads and decodes the next chunk in this thread. @stacks: NULL leaves them captured. */
void ahead_chunk_read(struct ahead_chunk *chunk, struct reader *reader,
		      const struct ahead_stacks *stacks);
void ahead_chunk_free(struct ahead_chunk *chunk);

/* What it contains. Each byte of an invalid payload may have taken as much time as a
 * node. */
struct recording_sums ahead_chunk_sums(const struct ahead_chunk *chunk);

/*
 * Starts reading from @fd, which the caller keeps, a recording of @size bytes (0 if that
 * is unknown) with @threads threads; 0: as many as are useful for the size and the CPUs.
 * What @stacks refers to must outlive it. NULL with @err set on error.
 */
struct ahead *ahead_start(int fd, uint64_t size, unsigned int threads,
			  const struct ahead_stacks *stacks, struct error *err);
/* Stops at once, even while waiting for a pipe. */
void ahead_stop(struct ahead *ahead);

/* The next chunk, valid until the next call; the caller may change it until then. If its
 * status is not 1, it is the last one. */
struct ahead_chunk *ahead_next(struct ahead *ahead);

#endif
