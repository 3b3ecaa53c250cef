/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_BUFFER_H
#define UNIPROF_FORMAT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing byte buffer, and a cursor that reads one without ever leaving it.
 * Both remember a failure, so that a run of calls is checked once, at its end.
 */

struct buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed; /* memory was short: what was put since is lost */
};

void buffer_free(struct buffer *buffer);
/* Empties it, keeps its memory, forgets a failure. */
void buffer_reset(struct buffer *buffer);
void buffer_put(struct buffer *buffer, const void *data, size_t size);
/* Makes room for @size bytes and returns where they go; NULL on failure. */
uint8_t *buffer_extend(struct buffer *buffer, size_t size);

/* Gives the pointer that @array points at room for @count elements of @size bytes, what
 * there was kept. False when memory is short; it then is what it was. */
bool array_grow(void *array, size_t count, size_t size);

/* LEB128 (DWARF 5, section 7.6): 7 bits a byte, low ones first. */
void buffer_put_varint(struct buffer *buffer, uint64_t value);
/* Small magnitudes first: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
void buffer_put_signed(struct buffer *buffer, int64_t value);

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed; /* the bytes ended, or were no varint: reads give 0 */
};

/* For numbers of any length; cursor_varint() is quicker for those of one byte. */
uint64_t cursor_long_varint(struct cursor *cursor);

static inline uint64_t cursor_varint(struct cursor *cursor)
{
	if (cursor->at != cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return cursor_long_varint(cursor);
}

static inline int64_t cursor_signed(struct cursor *cursor)
{
	uint64_t value = cursor_varint(cursor);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* The next @size bytes, as a cursor of their own. */
struct cursor cursor_take(struct cursor *cursor, uint64_t size);

/* Little-endian numbers at any address. */
uint32_t get_le32(const uint8_t *from);
uint16_t get_le16(const uint8_t *from);
void put_le32(uint8_t *to, uint32_t value);
void put_le16(uint8_t *to, uint16_t value);

#endif
