/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_RING_H
#define UNIPROF_RECORD_RING_H

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

/* For the thread that fills it: adds the parts, one after the other, as one entry. False
 * if there is no space; nothing is added then. */
struct ring_part {
	const void *data;
	size_t size;
};
bool ring_put(struct ring *ring, const struct ring_part *parts, size_t count);

/* For the thread that empties it: the oldest entry, NULL if there is none. It remains
 * valid, in one piece, until ring_drop(). */
const void *ring_peek(struct ring *ring, size_t *size);
void ring_drop(struct ring *ring);

#endif
