/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_AHEAD_H
#define UNIPROF_REPORT_LOAD_AHEAD_H

#include "format/place.h"
#include "format/sums.h"
#include "format/waits.h"
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
	/* Describes the domains, which may be added only while a chunk of type
	 * CHUNK_DOMAIN is handled. */
	const struct summary *summary;
};

struct ahead_chunk {
	int status; /* from reader_next(): 1, or 0 at the end, or -1 with @why set */
	struct error why;
	unsigned int type;
	struct buffer payload; /* empty for a chunk of samples, which is decoded */
	size_t payload_size;
	struct chunk_place place;
	struct samples_batch batch; /* decoded chunk of samples */
	struct waits_batch waits;   /* decoded chunk of waits */
	bool is_decoded;	    /* the payload of samples or waits was valid */
	size_t nodes; /* number of nodes in the payload's call tree, roots included */
	struct summary summary; /* sums of the samples */
	bool is_summed_up;   /* false if out of memory, or if captured stacks were left */
	uint64_t start, end; /* offsets in the recording */
	struct damage damage; /* damage that the reader skipped so far */
};

/* Reads and decodes the next chunk in this thread. @stacks: NULL leaves them captured,
 * and sums up no samples. */
void ahead_chunk_read(struct ahead_chunk *chunk, struct reader *reader,
		      const struct ahead_stacks *stacks);
void ahead_chunk_free(struct ahead_chunk *chunk);

/* The sums of the chunk's contents. Each byte of an invalid payload counts as a node,
 * because it may have taken as much time. */
struct recording_sums ahead_chunk_sums(const struct ahead_chunk *chunk);

/*
 * Starts reading from @fd, which the caller keeps, a recording of @size bytes (0 if that
 * is unknown) with @threads threads; 0: as many as are useful for the size and the CPUs.
 * What @stacks refers to must outlive it. NULL with @err set on error.
 */
struct ahead *ahead_start(int fd, uint64_t size, unsigned int threads,
			  const struct ahead_stacks *stacks, struct error *err);
/* Stops reading at once, even while waiting for a pipe. */
void ahead_stop(struct ahead *ahead);

/* Returns the next chunk, which the caller may change, and which is valid until the next
 * call. A chunk whose status is not 1 is the last one. */
struct ahead_chunk *ahead_next(struct ahead *ahead);

#endif
