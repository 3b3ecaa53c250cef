/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_WRITER_H
#define UNIPROF_FORMAT_WRITER_H

#include "base/error.h"
#include "format/chunk.h"
#include "format/recording.h"
#include "format/samples.h"
#include "format/sums.h"
#include "format/waits.h"

/*
 * Writes a recording, by appending only. Flushed data stays intact, whatever happens to
 * the writer afterwards.
 */
struct writer;

/*
 * Writes to @fd, which the caller closes. Starts with @info and the domains, which are
 * copied. NULL with @err set on error.
 */
struct writer *writer_new(int fd, const struct recording_info *info,
			  const struct recording_domain *domains, size_t count,
			  struct error *err);

/*
 * Creates a writer that copies the chunks of a recording with writer_copy(). Between two
 * of them, only writer_name() and writer_program() may add chunks. NULL with @err set on
 * error.
 */
struct writer *writer_copy_new(int fd, struct error *err);

/* Copies a chunk, whatever it contains. Its number is adjusted for
 * the chunks added and left out before. -1 as for writer_sample(), and if there are
 * too many names. */
int writer_copy(struct writer *writer, unsigned int type, const struct chunk_read *chunk,
		const struct recording_sums *sums, struct error *err);
/* Leaves out the next chunk of the original, in a copy. */
void writer_leave_out(struct writer *writer);

/* Compresses less but faster from now on (CHUNK_FAST), as a copy's writer does. */
void writer_compress_fast(struct writer *writer);

void writer_free(struct writer *writer);

/* Empties @payload and starts the payload of the next chunk in it: with its place, if the
 * recording has places. Also for callers that write a chunk themselves. */
void writer_begin(struct writer *writer, struct buffer *payload);

/* Describes another domain, before its first sample. -1 as for writer_sample(). */
int writer_domain(struct writer *writer, const struct recording_domain *domain,
		  struct error *err);

/*
 * Adds one sample. It is written at the next flush, or earlier if there are many. -1 on a
 * write error; after that, nothing can be written any more.
 */
int writer_sample(struct writer *writer, const struct sample *sample, struct error *err);

/* Adds a chunk of samples from another recording, given both as @chunk and decoded. -1
 * as for writer_sample(). */
int writer_samples(struct writer *writer, const struct chunk_read *chunk,
		   const struct samples_batch *batch, struct error *err);

/*
 * Names a place, once, before the first sample that contains it. -1 as for
 * writer_sample(), and if there are too many names for a recording.
 */
int writer_name(struct writer *writer, const struct recording_name *name,
		struct error *err);

/*
 * Adds a mapping of a process, which is written at the next flush. One too many for a
 * recording is left out. -1 as for writer_sample().
 */
int writer_mapping(struct writer *writer, const struct recording_mapping *mapping,
		   struct error *err);

/* Describes a program that names are from. -1 as for writer_sample(). */
int writer_program(struct writer *writer, const struct recording_program *program,
		   struct error *err);

/* Returns whether the writer has failed for good; if not, the last error was a limit. */
bool writer_failed(const struct writer *writer);

/*
 * Adds one wait. It is written at the next flush after writer_waits(), or earlier if
 * there are many. -1 as for writer_sample().
 */
int writer_wait(struct writer *writer, const struct wait *wait, struct error *err);
/* Has the next flush write the waits since the last such call and their counts, which are
 * then reset. */
void writer_waits(struct writer *writer);
/* Returns the counts for the next chunk of waits, to be added to. */
struct waits_counts *writer_waits_counts(struct writer *writer);

/* Returns the counts for the next chunk of samples, to be added to; reset at each
 * flush. */
struct sampling_counts *writer_counts(struct writer *writer);

/* Writes what was added since the last flush. */
int writer_flush(struct writer *writer, struct error *err);

/*
 * Flushes, and ends the recording with @end, in which the caller sets the reason and the
 * time and the writer the rest.
 */
int writer_end(struct writer *writer, struct recording_end *end, struct error *err);

/* Return what was written so far: bytes, total weight of the samples, pauses. */
uint64_t writer_bytes(const struct writer *writer);
uint64_t writer_weight(const struct writer *writer);
const struct pauses *writer_pauses(const struct writer *writer);

#endif
