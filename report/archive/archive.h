/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_ARCHIVE_ARCHIVE_H
#define UNIPROF_REPORT_ARCHIVE_ARCHIVE_H

#include "base/replace.h"
#include "format/writer.h"
#include "report/load/ahead.h"
#include "report/model/profile_read.h"

/* Storing names in a recording, which then needs no symbol files. */

/* How a recording is archived. */
struct archive_options {
	const char *output; /* NULL: the recording itself */
	bool replaces;	    /* an existing file, which is not kept as FILE.old */
	bool must_fit;	    /* symbol files that do not match what ran are an error */
};

/* A copy of a recording, with names. */
struct archive {
	const struct profile *profile;
	const struct archive_options *options;
	const char *path;    /* path of the copy; "-" is standard output */
	struct replace file; /* the copy, until it is complete */
	uint64_t names;	     /* number of addresses whose names were stored */
	uint64_t bytes;	     /* size of the copy */
};

/* Whether the options contradict the opened profile's symbol files; @err says why. */
bool archive_is_refused(const struct profile *profile,
			const struct archive_options *options, struct error *err);

/*
 * Opens the copy of the profile's only recording. archive_close() must be called either
 * way; it discards a copy that is not complete. -1 with @err set on failure.
 */
int archive_open(struct archive *archive, const struct profile *profile,
		 const struct archive_options *options, struct error *err);
void archive_close(struct archive *archive);

/* Copies the recording, once the profile was read, and puts the copy in its place. -1
 * with @err set on failure. */
int archive_write(struct archive *archive, struct error *err);

/*
 * Writes the programs of a profile that was read, and the names of all addresses in its
 * call chains, as far as they are from symbol files or from an archived recording, with
 * their lines if the profile has any. Names must not be demangled. *@count is set to the
 * number of names. -1 with @err set.
 */
int archive_names_write(const struct profile *profile, struct writer *writer,
			uint64_t *count, struct error *err);

/* Replaces the payload of a chunk of samples, whose captured stacks were unwound
 * (replay_batch()), by one that has their chains. -1 if out of memory. */
int archive_stacks(struct ahead_chunk *chunk);

/* Symbol files. Starts as zeros. */
struct archive_files {
	char **specs; /* as for --symbols */
	size_t count;
	struct symbols_found *found; /* their domains are owned */
	size_t found_count;
};

/* The symbol files that a recorder had. */
struct archive_choice {
	const char *const *symbols; /* specs, as given to `uniprof record` */
	size_t symbol_count;
	const struct symbols_found *found; /* found for domains without these */
	size_t found_count;
};

/*
 * Chooses which of the files that `uniprof record` had have names for the recording at
 * @path: only domains that were recorded with these files, by an unwind
 * table, get names of them; a file without names, such as a compressed kernel, is left
 * out. -1 with @err set on failure; archive_files_free() must be called either way.
 */
int archive_files_choose(struct archive_files *files, const struct archive_choice *had,
			 const char *path, struct error *err);
void archive_files_free(struct archive_files *files);

#endif
