/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_LINES_H
#define UNIPROF_IMPORT_LINES_H

#include "base/error.h"
#include "format/recording.h"

#define LINES_MAX (1u << 20) /* bytes in a line */

/* The lines of a file or pipe. */
struct lines {
	int fd;
	char *buffer;
	size_t start, end; /* what is read and not yet given */
	bool at_eof;
	uint64_t number; /* of the last line that was given; the first is 1 */
};

/* Reads from @fd, which stays the caller's. -1 when memory is short. */
int lines_init(struct lines *lines, int fd);
void lines_free(struct lines *lines);

/*
 * The next line without its end, valid until the next call: 1; 0 at the end; -1 with
 * @err set when it can't be read, is longer than LINES_MAX or holds a 0 byte.
 */
int lines_next(struct lines *lines, struct recording_text *line, struct error *err);

/*
 * Reads ahead, and gives the line at *@ahead bytes from here, behind which it moves
 * it; starts with 0. 0 at the end, and LINES_MAX bytes ahead; -1 as above.
 */
int lines_ahead(struct lines *lines, size_t *ahead, struct recording_text *line,
		struct error *err);

#endif
