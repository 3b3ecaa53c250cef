/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_GZIP_H
#define UNIPROF_OUTPUT_WRITE_GZIP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a gzip file (RFC 1952) to a FILE, which the caller closes and which keeps write
 * errors. The same bytes always give the same file: it contains no time.
 */
struct gzip;

/* Levels of compression. */
enum {
	GZIP_FAST = 1,
	GZIP_USUAL = 6,
};

/* NULL if out of memory. */
struct gzip *gzip_new(FILE *out, int level);
void gzip_free(struct gzip *gzip);

void gzip_put(struct gzip *gzip, const void *data, size_t size);
/* Writes the rest; nothing can be added after that. */
void gzip_end(struct gzip *gzip);

#endif
