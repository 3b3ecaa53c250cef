/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_GZIP_H
#define UNIPROF_REPORT_GZIP_H

#include <stddef.h>
#include <stdio.h>

/*
 * Writes a gzip file (RFC 1952) into a FILE, which stays the caller's and keeps
 * write errors. The same bytes always make the same file: it tells no time.
 */
struct gzip;

/* NULL when memory is short. */
struct gzip *gzip_new(FILE *out);
void gzip_free(struct gzip *gzip);

void gzip_put(struct gzip *gzip, const void *data, size_t size);
/* Writes out what is left; nothing can be put any more. */
void gzip_end(struct gzip *gzip);

#endif
