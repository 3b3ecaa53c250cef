/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_AHEAD_H
#define UNIPROF_REPORT_AHEAD_H

#include "report/summary.h"

/*
 * The chunks of a recording, in its order, read ahead by threads: one of them at a time
 * goes to the next chunk, and they decode what they got at the same time. What comes is
 * the same with any number of them.
 */
struct ahead;

struct ahead_chunk {
	int status;	  /* reader_next()'s; unless it is 1, nothing else is set but */
	struct error why; /* for -1, and end and damage */
	unsigned int type;
	struct buffer payload;
	struct samples_batch batch; /* of a chunk of samples, */
	bool is_decoded;	    /* if its payload makes sense, */
	struct summary summary;	    /* and what these amount to, */
	bool is_summed_up;	    /* if there was memory enough for that */
	uint64_t start, end;	    /* where in the recording */
	struct damage damage;	    /* what the reader passed over so far */
};

/*
 * Begins to read from @fd, which stays the caller's, with so many threads; 0: as many as
 * there are CPUs to run on, as far as they help. NULL with @err when memory or threads
 * are short.
 */
struct ahead *ahead_start(int fd, unsigned int threads, struct error *err);
/* Stops wherever it is, even while it waits for a pipe. */
void ahead_stop(struct ahead *ahead);

/* The next chunk, valid until the next call, and the caller's to change until then. When
 * its status is not 1, it is the last one. */
struct ahead_chunk *ahead_next(struct ahead *ahead);

#endif
