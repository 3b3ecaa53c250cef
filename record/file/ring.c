/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compat.h"

/* Alignment of an entry's size and of its bytes, which follow the size */
#define ALIGN 8u

struct ring {
	/* The memory is mapped twice in a row: an entry that passes the end of the first
	 * mapping continues in the second. */
	uint8_t *data;
	size_t size;
	uint64_t head; /* total bytes added; written by the filling thread */
	uint64_t tail; /* total bytes dropped; written by the emptying thread */
};

static uint8_t *map_twice(size_t size)
{
	int fd = memfd_create("uniprof-ring", MFD_CLOEXEC);
	uint8_t *data = MAP_FAILED;

	if (fd < 0)
		return NULL;
	if (ftruncate(fd, (off_t)size) == 0)
		data = mmap(NULL, 2 * size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	for (int half = 0; half < 2 && data != MAP_FAILED; half++) {
		if (mmap(data + (size_t)half * size, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0) == MAP_FAILED) {
			munmap(data, 2 * size);
			data = MAP_FAILED;
		}
	}
	close(fd);
	return data == MAP_FAILED ? NULL : data;
}

struct ring *ring_new(size_t size, struct error *err)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	if (ring) {
		ring->size = size;
		ring->data = map_twice(size);
	}
	if (!ring || !ring->data || mlock(ring->data, size) < 0) {
		error_mlock(err, errno, size);
		ring_free(ring);
		return NULL;
	}
	return ring;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	if (ring->data)
		munmap(ring->data, 2 * ring->size);
	free(ring);
}

static size_t padded(size_t size)
{
	return (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

bool ring_put(struct ring *ring, const struct ring_part *parts, size_t count)
{
	uint64_t tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	uint64_t size = 0;
	uint8_t *to;

	for (size_t i = 0; i < count; i++)
		size += parts[i].size;
	if (sizeof(size) + padded(size) > ring->size - (ring->head - tail))
		return false;
	to = ring->data + ring->head % ring->size;
	memcpy(to, &size, sizeof(size));
	to += sizeof(size);
	for (size_t i = 0; i < count; i++) {
		if (parts[i].size)
			memcpy(to, parts[i].data, parts[i].size);
		to += parts[i].size;
	}
	__atomic_store_n(&ring->head, ring->head + sizeof(size) + padded(size),
			 __ATOMIC_RELEASE);
	return true;
}

const void *ring_peek(struct ring *ring, size_t *size)
{
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	const uint8_t *from = ring->data + ring->tail % ring->size;
	uint64_t stored;

	if (head == ring->tail)
		return NULL;
	memcpy(&stored, from, sizeof(stored));
	*size = (size_t)stored;
	return from + sizeof(stored);
}

void ring_drop(struct ring *ring)
{
	uint64_t size;

	memcpy(&size, ring->data + ring->tail % ring->size, sizeof(size));
	__atomic_store_n(&ring->tail, ring->tail + sizeof(size) + padded(size),
			 __ATOMIC_RELEASE);
}
