/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_OUTFILE_H
#define UNIPROF_OUTPUT_WRITE_OUTFILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/replace.h"

/* The files that reports are written to. */

/*
 * A FILE that writes to a descriptor and keeps the reason of its first error: a plain
 * FILE only records that there was one, and errno is overwritten later.
 */
struct stream {
	int fd;
	int why; /* errno of the first write that failed; 0: none */
	/* Bytes of recordings read so far, which limit the size of the output: a small
	 * malicious recording can expand to terabytes of text. NULL: no limit. */
	const uint64_t *recorded;
	uint64_t written;
	bool is_too_much; /* writing failed because of the limit */
	/* Reports can be large, and a system call for each 4 KB, as FILEs have it, takes
	 * longer than generating them. */
	char buffer[128 * 1024];
};

/* Returns the size limit, in bytes, of a report of @recorded bytes of recordings. */
uint64_t stream_most(uint64_t recorded);

/*
 * The FILE uses @stream until it is closed. It has no descriptor, and can seek only if it
 * starts at the beginning of a regular file. fclose() doesn't close @fd; the caller does.
 * NULL if out of memory.
 */
FILE *stream_open(struct stream *stream, int fd);

/* Sets @err to why writing to the file called @name failed. Returns -1. */
int stream_explain(const struct stream *stream, const char *name, struct error *err);

/* The file a report is written to. */
struct outfile {
	FILE *stream; /* has a descriptor only for a terminal */
	struct stream writes;
	struct replace file;
};

/*
 * Opens @path, or standard output if it is NULL or "-". An existing file is kept until
 * outfile_close(). @path must stay valid. Only one can be open at a time. -1 with @err
 * set on error; there is nothing to close then.
 */
int outfile_open(struct outfile *out, const char *path, struct error *err);

/*
 * Writes the rest and closes the file. If the report is incomplete or can't be written,
 * an existing file is left unchanged. -1 if not everything could be written; @err is
 * empty if no message is needed, because the reader of a pipe closed it.
 */
int outfile_close(struct outfile *out, bool is_complete, struct error *err);

/* A temporary file for output that must be complete before it can be passed on. */
struct spool {
	FILE *out, *in; /* to write to and, after spool_read(), to read from; or NULL */
	struct stream writes;
};

/*
 * Opens the file for writing; it can seek. @recorded, which may be NULL, limits its size
 * as in struct stream. -1 with @err set on error. spool_close() is allowed either way.
 */
int spool_open(struct spool *spool, const uint64_t *recorded, struct error *err);

/* Ends writing and opens @spool->in at the start of the file. -1 with @err set if not
 * all could be written. */
int spool_read(struct spool *spool, struct error *err);

/* -1 with @err set if writing to the file or reading it has failed. */
int spool_check(const struct spool *spool, struct error *err);

/* Closes and removes the file. Allowed for a struct that is all 0. */
void spool_close(struct spool *spool);

#endif
