/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_LINES_H
#define UNIPROF_IMPORT_LINES_H

#include "base/error.h"
#include "format/recording.h"

#define LINES_MAX (1u << 20) /* maximum length of a line, bytes */

/* The lines of a file or pipe. */
struct lines {
	int fd;
	char *buffer;
	size_t room;	   /* size of the buffer, bytes */
	size_t start, end; /* part of the buffer that was not returned yet */
	bool at_eof;
	uint64_t number; /* number of the last line returned, from 1 */
};

/* Starts to read from @fd, which the caller keeps. -1 if out of memory. */
int lines_init(struct lines *lines, int fd);
void lines_free(struct lines *lines);

/* Result of lines_next(): it skipped a line that is too long. */
#define LINES_BAD 2

/*
 * Gets the next line without its line end, valid until the next call. Returns 1; 0 at
 * the end of the file; -1 with @err set if reading fails, memory runs out or the input
 * contains a NUL byte; LINES_BAD with @err set if the line is longer than LINES_MAX.
 */
int lines_next(struct lines *lines, struct recording_text *line, struct error *err);

/*
 * Reads ahead: gets the line *@ahead bytes after the last line returned, and moves
 * *@ahead past it. *@ahead starts with 0. Returns 1; 0 at the end of the file or
 * LINES_MAX bytes ahead; -1 with @err set as by lines_next().
 */
int lines_ahead(struct lines *lines, size_t *ahead, struct recording_text *line,
		struct error *err);

#endif
