/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_SOURCE_H
#define UNIPROF_SYMBOLS_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

/* The content of one file, read only. */
struct symbols_source {
	void *data;
	size_t size; /* bytes, never 0 */
	bool mapped;
};

/*
 * Maps the file, or reads it when it is a pipe or has no size in advance
 * (/proc). Waits for a pipe's writer, but never for one that has yet to come.
 * Anything else than files and pipes is refused without being opened, as
 * opening a device can have effects. @name is what messages call the file.
 * -1 with one line in @err.
 */
int symbols_source_open(struct symbols_source *source, const char *path, const char *name,
			struct error *err);
void symbols_source_close(struct symbols_source *source);

#endif
