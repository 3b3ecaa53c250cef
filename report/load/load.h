/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_LOAD_H
#define UNIPROF_REPORT_LOAD_LOAD_H

#include "base/error.h"
#include "format/chunk.h"
#include "format/mapping_list.h"
#include "format/name_list.h"
#include "format/waits.h"
#include "report/load/replay.h"
#include "report/load/summary.h"

/* The source of a recording. */
struct input {
	const char *name; /* for messages */
	int fd;
	uint64_t size; /* bytes; 0 if unknown, as for a pipe */
	int64_t start; /* offset of the recording in the file; -1: can be read only once
			*/
	/* Additional memory allowed while and after reading it, in bytes. */
	uint64_t extra_memory;
};

/* Opens the recording at @path; "-" is standard input. */
int input_open(struct input *input, const char *path, struct error *err);
void input_close(struct input *input);

/* Callbacks for what is read. They return -1 with @err set to stop. */
struct load_visitor {
	/* Called for each description of a domain, the first of which is usually (not
	 * always) before its samples. The
	 * domain is added to the summary afterwards, with any changes made here. Can be
	 * NULL. */
	int (*domain)(void *arg, struct recording_domain *domain, struct error *err);
	/* Names of addresses, most of them before the samples that contain them. Can be
	 * NULL. */
	int (*names)(void *arg, const struct name_list_reader *names, struct error *err);
	/* Mappings of processes. Can be NULL. */
	int (*mappings)(void *arg, const struct mapping_list_reader *mappings,
			struct error *err);
	/* Called once for each program that stored names are from. Can be NULL. */
	int (*program)(void *arg, const struct recording_program *program,
		       struct error *err);
	/* @batch is valid during the call and may be changed; it was already added to the
	 * summary. */
	int (*samples)(void *arg, struct samples_batch *batch, struct error *err);
	/* Waits of threads; @batch as for samples(). Can be NULL. */
	int (*waits)(void *arg, struct waits_batch *batch, struct error *err);
	/* Called by load_more() instead of samples(), with the chunk as it was read, too.
	 * Can be NULL. */
	int (*chunk)(void *arg, const struct samples_batch *batch,
		     const struct chunk_read *read, struct error *err);
	void *arg;
	/* Unwinds captured stacks for samples(); NULL: by frame pointers. */
	struct replay *replay;
};

/*
 * Reads a recording in one pass, into @summary and to @visitor, using @threads threads
 * (see ahead_start()); the result doesn't depend on their number. Damage is skipped and
 * counted. -1 if it can't be read, is not a recording or is of a later version, contains
 * more than its size allows, or if the visitor fails; @err names the input. From then on,
 * the memory of the process is limited to what reports of such a recording need
 * (report/load/memory.h).
 */
int load_recording(const struct input *input, unsigned int threads,
		   struct summary *summary, const struct load_visitor *visitor,
		   struct error *err);

/* Whether a recording that can be read again has mappings, by the headers of its chunks
 * alone; true, too, if it is damaged. */
bool load_has_mappings(const struct input *input);

/*
 * Passes all names and mappings of a recording that can be read again to the visitor,
 * before the recording is read: they can follow the first samples that need them. What
 * can't be read is passed over; load_recording() tells. -1 if the visitor fails, or if
 * the input can't be rewound.
 */
int load_names(const struct input *input, const struct load_visitor *visitor,
	       struct error *err);

/*
 * Prepares to read, in this thread, a recording that may still be written: load_more()
 * reads the chunks that are complete. All arguments but @err must outlive the load. NULL
 * if out of memory.
 */
struct load;
struct load *load_follow(const struct input *input, struct summary *summary,
			 const struct load_visitor *visitor, struct error *err);
void load_free(struct load *load);

/* Reads what has been written since the last call. 1 if more may follow; 0 at the
 * recording's end, or if the pipe was closed. -1 as for load_recording(). */
int load_more(struct load *load, struct error *err);

/* Prepares an input that can be read again for another load_recording(). */
int input_rewind(const struct input *input, struct error *err);

#endif
