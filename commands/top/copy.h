/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_COPY_H
#define UNIPROF_COMMANDS_TOP_COPY_H

#include "format/writer.h"
#include "report/load/load.h"

/* Writes what is read of one recording to another, from a certain time on. Chunks are
 * copied or left out as a whole, because their pauses can't be divided. */
struct copy {
	int fd;
	const struct summary *summary; /* of what is read */
	uint64_t from;		       /* ns, monotonic: older chunks are left out */
	uint64_t start; /* when the last sample left out was taken; 0: there is none */
	struct writer *writer; /* NULL until there is something to write */
};

/* The visitor for load_follow() into @summary; the caller keeps @copy, which has the
 * first three members set, and its descriptor. */
struct load_visitor copy_visitor(struct copy *copy);

/* What the visitor does with a chunk of samples. */
int copy_samples(struct copy *copy, const struct samples_batch *batch,
		 struct cursor payload, struct error *err);

/* Writes the start of the copy if nothing is written yet; @copy->summary must have INFO
 * or a sample. */
int copy_begin(struct copy *copy, struct error *err);

/* Ends the copy as the original or, if that goes on, at its last sample. */
int copy_end(struct copy *copy, struct error *err);
void copy_free(struct copy *copy);

/* Copies the recording at @path, from @from (ns, monotonic) on, to @fd. */
int copy_file(struct copy *copy, int fd, const char *path, uint64_t from,
	      struct summary *summary, struct error *err);

#endif
