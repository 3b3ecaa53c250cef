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

/* @size is in bytes, a power of two and at least a page. NULL with the reason in @err on
 * failure. */
struct ring *ring_new(size_t size, struct error *err);
void ring_free(struct ring *ring);

/* For the filling thread: adds the parts, one after another, as one entry. False, with
 * nothing added, if there is no space. */
struct ring_part {
	const void *data;
	size_t size;
};
bool ring_put(struct ring *ring, const struct ring_part *parts, size_t count);

/* For the emptying thread: returns the oldest entry, in one piece and valid until
 * ring_drop(); NULL if there is none. */
const void *ring_peek(struct ring *ring, size_t *size);
/* For the emptying thread: drops the oldest entry, which must exist. */
void ring_drop(struct ring *ring);

#endif
