/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_SOURCE_H
#define UNIPROF_SYMBOLS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The contents of one file, read-only. */
struct symbols_source {
	void *data;
	size_t size; /* bytes, never 0 */
	bool mapped;
};

/*
 * Maps the file, or reads it if it is a pipe or its size is not known in advance (/proc).
 * Waits for data from a pipe, but not for a writer to open the pipe. Anything else is
 * rejected without being opened, because opening a device can have side effects. @name is
 * the name of the file in messages. -1 with one line in @err.
 */
int symbols_source_open(struct symbols_source *source, const char *path, const char *name,
			struct error *err);
void symbols_source_close(struct symbols_source *source);

#endif
