/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_WRITER_H
#define UNIPROF_FORMAT_WRITER_H

#include "base/error.h"
#include "format/recording.h"
#include "format/samples.h"

/*
 * Writes a recording, only ever at its end. What has been flushed is whole,
 * whatever happens to the writer afterwards.
 */
struct writer;

/*
 * Writes to @fd, which stays the caller's, and begins with @info and the
 * domains, which are copied. NULL, and why in @err, when that fails.
 */
struct writer *writer_new(int fd, const struct recording_info *info,
			  const struct recording_domain *domains, size_t count,
			  struct error *err);
void writer_free(struct writer *writer);

/* Describes one more domain, whose samples come after this. -1 as below. */
int writer_domain(struct writer *writer, const struct recording_domain *domain,
		  struct error *err);

/*
 * Adds one sample, to be written at the next flush or when there are many.
 * -1 when writing fails; nothing can be written from then on.
 */
int writer_sample(struct writer *writer, const struct sample *sample, struct error *err);

/*
 * Names a place, once, before the first sample that it is in. -1 as above, and when a
 * recording can't have so many names.
 */
int writer_name(struct writer *writer, const struct recording_name *name,
		struct error *err);

/* Where to count what happens to the sampling; starts anew at each flush. */
struct sampling_counts *writer_counts(struct writer *writer);

/* Writes what was added since the last flush. */
int writer_flush(struct writer *writer, struct error *err);

/*
 * Flushes, and closes the recording with @end, in which the writer fills in
 * all but the reason and the time.
 */
int writer_end(struct writer *writer, struct recording_end *end, struct error *err);

/* What was written so far: bytes, the weights of all samples together, and the
 * pauses of all chunks. */
uint64_t writer_bytes(const struct writer *writer);
uint64_t writer_weight(const struct writer *writer);
const struct pauses *writer_pauses(const struct writer *writer);

#endif
