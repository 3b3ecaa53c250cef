/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_GZIP_H
#define UNIPROF_OUTPUT_WRITE_GZIP_H

#include <stdbool.h>
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
/* Begins a block: what comes next is unlike what came before, and gets a code of its own.
 * @is_noise: it hardly repeats itself, and only runs of one byte are looked for. */
void gzip_begin_block(struct gzip *gzip, bool is_noise);
/* Writes the rest; nothing can be added after that. */
void gzip_end(struct gzip *gzip);

#endif
