/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_RING_H
#define UNIPROF_RECORD_FILE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/*
 * A queue of entries of any size from one thread to another. Neither ever waits, and the
 * memory is locked: adding an entry costs a copy.
 */
struct ring;

/* Creates a ring of @size bytes, a power of two and at least a page. NULL with the reason
 * in @err on failure. */
struct ring *ring_new(size_t size, struct error *err);
void ring_free(struct ring *ring);

/* A part of an entry. */
struct ring_part {
	const void *data; /* may be NULL if @size is 0 */
	size_t size;
};
/* Adds, for the filling thread, the parts one after another as one entry. False, with
 * nothing added, if there is no space. */
bool ring_put(struct ring *ring, const struct ring_part *parts, size_t count);

/* Returns, for the emptying thread, the oldest entry, in one piece and valid until
 * ring_drop(); NULL if there is none. */
const void *ring_peek(struct ring *ring, size_t *size);
/* Drops, for the emptying thread, the oldest entry, which must exist. */
void ring_drop(struct ring *ring);

#endif
