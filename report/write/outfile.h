/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_WRITE_OUTFILE_H
#define UNIPROF_REPORT_WRITE_OUTFILE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "base/replace.h"
#include "report/write/stream.h"

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

#endif
