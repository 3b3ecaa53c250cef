/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_COPY_H
#define UNIPROF_COMMANDS_TOP_COPY_H

#include "base/tree.h"
#include "commands/top/old_waits.h"
#include "format/writer.h"
#include "report/load/load.h"

/* A copy of a recording, made while the original is read, from a certain time on. Chunks
 * are copied or left out as a whole, because their pauses can't be divided. */
struct copy {
	int fd;			       /* the copy is written to; not owned */
	const struct summary *summary; /* of the original */
	uint64_t from;	/* start of the copy, ns, monotonic; older chunks are left out */
	uint64_t start; /* time of the last sample left out, ns, monotonic; 0: none */
	struct writer *writer;	/* NULL until there is something to write */
	struct old_waits waits; /* of chunks left out */
	/* only mappings of processes in the copy are copied, by copy_file() at its end */
	bool selects;
	/* Of these processes. The root's children: domains; theirs: address spaces */
	struct tree processes;
};

/* Returns a visitor for load_follow() that writes @copy, whose @fd, @summary and @from
 * are set. The summary is the one that load_follow() fills in. */
struct load_visitor copy_visitor(struct copy *copy);

/* Copies a chunk of samples, or leaves it out, as the visitor does. */
int copy_samples(struct copy *copy, const struct samples_batch *batch,
		 const struct chunk_read *read, struct error *err);

/* Copies a chunk of waits, perhaps without some of them. A wait that was left out and
 * goes on is copied before the next chunk, or by copy_flush(). */
int copy_waits(struct copy *copy, const struct waits_batch *batch, struct error *err);
int copy_flush(struct copy *copy, struct error *err);

/* Writes the start of the copy unless it was written; @copy->summary must have INFO or a
 * sample. -1 with @err set on failure. */
int copy_begin(struct copy *copy, struct error *err);

/* Ends the copy as the original has ended or, if the original goes on, at its last
 * sample. -1 with @err set on failure. */
int copy_end(struct copy *copy, struct error *err);
void copy_free(struct copy *copy);

/* Copies the recording at @path, from @from (ns, monotonic) on, to @fd, and leaves the
 * copy without an end. Sets @copy, for copy_end() and copy_free(), and @summary, which
 * the caller frees. -1 with @err set on failure. */
int copy_file(struct copy *copy, int fd, const char *path, uint64_t from,
	      struct summary *summary, struct error *err);

#endif
