/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_WRITE_SPOOL_H
#define UNIPROF_REPORT_WRITE_SPOOL_H

#include "base/error.h"
#include "report/write/stream.h"

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

/* Also removes the file. Allowed for a struct that is all 0. */
void spool_close(struct spool *spool);

#endif
