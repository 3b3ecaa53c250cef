/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_OUTFILE_H
#define UNIPROF_REPORT_OUTFILE_H

#include <stdio.h>

#include "base/error.h"
#include "report/load.h"

/*
 * Opens @path, or standard output when it is NULL or "-", for a report of @inputs:
 * replaces a file that is there, unless it is one of the recordings itself. One can
 * be open at a time. NULL on failure.
 */
FILE *outfile_open(const char *path, const struct input *inputs, size_t count,
		   struct error *err);

/*
 * Writes out what is left and closes it. -1 when not all could be written; @err is
 * empty when that is no news to anybody, as the reader of a pipe went away.
 */
int outfile_close(FILE *out, const char *path, struct error *err);

#endif
