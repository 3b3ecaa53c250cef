/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_ARCHIVE_ARCHIVE_H
#define UNIPROF_REPORT_ARCHIVE_ARCHIVE_H

#include "report/profile_options.h"

/* Names for a recording that was just made. */
struct archive_names {
	const char *command;  /* for messages on standard error */
	const char **symbols; /* files, as given to record with -s */
	size_t symbol_count;
	bool lines;    /* source lines and inlined functions, too */
	bool is_brief; /* no message unless it fails */
	bool verbose;
};

/*
 * Does what `uniprof archive` does, in place, with the recording at @path, which is not
 * kept without names. Only domains that were recorded with these files, by an unwind
 * table, get names of them; a file without names, such as a compressed kernel, is left
 * out. If nothing is left, or @path is no regular file, nothing is done. Returns an enum
 * exit_code.
 */
int archive_store(const struct archive_names *names, const char *path);

/* For archive_run(). */
struct archive_options {
	struct profile_options profile;
	const char *output; /* NULL: the input */
	bool replaces;	    /* the input, which is not kept as FILE.old */
	bool must_fit;	    /* files that do not match what ran are an error */
	bool is_brief;	    /* no notes */
};

/* Stores the names. Returns an enum exit_code; messages are written. */
int archive_run(const struct archive_options *options);

#endif
