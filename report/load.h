/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_LOAD_H
#define UNIPROF_REPORT_LOAD_H

#include "base/error.h"
#include "format/name_list.h"
#include "report/summary.h"

/* Where a recording comes from. */
struct input {
	const char *name; /* as messages call it */
	int fd;
	uint64_t size; /* bytes; 0 when that is not known, as of a pipe */
	int64_t start; /* where the recording begins, to read it again; -1: only once */
};

/* Opens the recording at @path; "-" is standard input. */
int input_open(struct input *input, const char *path, struct error *err);
void input_close(struct input *input);

/* Who gets what is read, as it comes. Both return -1 with @err set to stop. */
struct load_visitor {
	/* Each domain once; most often, but not surely, before its samples. It is
	 * added to the summary afterwards, as it then is. May be NULL. */
	int (*domain)(void *arg, struct recording_domain *domain, struct error *err);
	/* What places are called, before the samples that they are in. May be NULL. */
	int (*names)(void *arg, const struct name_list_reader *names, struct error *err);
	/* @batch is valid during the call, and may be changed; it is part of the
	 * summary already. */
	int (*samples)(void *arg, struct samples_batch *batch, struct error *err);
	void *arg;
};

/*
 * Reads a recording in one pass, into @summary and to @visitor, with the help of so many
 * threads (ahead_start()); nothing else depends on these. Damage is passed over and
 * counted. -1 when it can't be read, is no recording or of a later
 * version, and when the visitor says so; @err names the input.
 */
int load_recording(const struct input *input, unsigned int threads,
		   struct summary *summary, const struct load_visitor *visitor,
		   struct error *err);

/* Makes an input that was read, and can be read again, ready for that. */
int input_rewind(const struct input *input, struct error *err);

#endif
