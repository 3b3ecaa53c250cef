/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_WRITE_STREAM_H
#define UNIPROF_REPORT_WRITE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

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
	bool is_too_much; /* it failed because of the limit */
	/* Reports can be large, and a system call for each 4 KB, as FILEs have it, takes
	 * longer than generating them. */
	char buffer[128 * 1024];
};

/* The size limit of a report for that many bytes of recordings. */
uint64_t stream_most(uint64_t recorded);

/*
 * The FILE uses @stream until it is closed. It has no descriptor, and can seek only if it
 * starts at the beginning of a regular file. fclose() doesn't close @fd; the caller does.
 * NULL if out of memory.
 */
FILE *stream_open(struct stream *stream, int fd);

/* Sets @err to why writing to the file called @name failed. Returns -1. */
int stream_explain(const struct stream *stream, const char *name, struct error *err);

#endif
