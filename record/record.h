/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_RECORD_H
#define UNIPROF_RECORD_RECORD_H

#include "format/pauses.h"
#include "guest/host.h"
#include "record/domains/unwound.h"
#include "record/options.h"
#include "record/threads/waits.h"

/* One recording, from the options to the complete file or files. */
struct record;

/* A summary of what was recorded. */
struct record_summary {
	const char *file;     /* the last file; NULL: sampling was never begun */
	uint64_t files;	      /* number of files */
	uint64_t bytes;	      /* size of all files */
	uint64_t duration;    /* from the first deadline to the end of sampling, ns */
	uint64_t sampled;     /* sum of the times for which domains were sampled, ns */
	unsigned int domains; /* number of domains sampled */
	uint64_t samples;     /* number of samples taken */
	uint64_t weight;    /* samples in reports, with those left out for the overhead */
	uint64_t unstopped; /* those of them that were taken without pauses */
	uint64_t lost;	    /* samples lost because the buffer was full */
	uint64_t missed;    /* number of rounds that were too late */
	struct pauses pauses;
	struct unwound unwound;
	struct waits_totals waits;
};

/* Makes all threads share one arena of malloc(); must be called before the first thread
 * is started, such as one that queries xenstore. */
void record_share_arena(void);

/*
 * Prepares a recording: makes all tables, begins to count its time limit, and starts the
 * process that creates files for a rotation; so it must be called before anything is
 * opened that this process should not inherit, such as the host. @options must outlive
 * the recording. NULL with the reason in
 * @err on failure.
 */
struct record *record_new(const struct record_options *options, struct error *err);

/*
 * Records guests of @host, of which it takes ownership, until there is a reason to end.
 * The recording's description has the command line @argv. Afterwards, this process has no
 * privileges, and may make only the system calls for recording (filter_recorder()), such
 * as write() and wait4(). Fills in @summary, whose texts are valid until record_free(),
 * as soon as sampling has begun, even if -1 is returned with the reason in @err.
 */
int record_run(struct record *record, struct host *host, int argc, char **argv,
	       struct record_summary *summary, struct error *err);

/* Closes the host and the last file, and frees everything. -1 with @err set if the file
 * is not complete. @record may be NULL. */
int record_free(struct record *record, struct error *err);

#endif
