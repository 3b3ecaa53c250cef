/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_BUFFER_H
#define UNIPROF_FORMAT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A growing byte buffer, and a cursor for bounds-checked reads. Both remember a failure,
 * so a caller needs to check only once, after a series of calls. */

struct buffer {
	uint8_t *data;
	size_t size;
	size_t capacity;
	bool failed; /* out of memory: later data is not stored */
};

void buffer_free(struct buffer *buffer);
/* Empties the buffer and clears a failure; keeps the memory. */
void buffer_reset(struct buffer *buffer);
void buffer_put(struct buffer *buffer, const void *data, size_t size);
/* Appends @size uninitialized bytes. Returns a pointer to them, or NULL on failure. */
uint8_t *buffer_extend(struct buffer *buffer, size_t size);

/* Appends a varint of any length; buffer_put_varint() is faster for one of one byte. */
void buffer_put_long_varint(struct buffer *buffer, uint64_t value);

/* Appends a varint: LEB128 (DWARF 5, section 7.6), 7 bits per byte, lowest first. */
static inline void buffer_put_varint(struct buffer *buffer, uint64_t value)
{
	if (value < 0x80 && buffer->size < buffer->capacity && !buffer->failed)
		buffer->data[buffer->size++] = (uint8_t)value;
	else
		buffer_put_long_varint(buffer, value);
}

/* Appends a zigzag varint: 0, -1, 1, -2 ... become 0, 1, 2, 3 ... */
void buffer_put_signed(struct buffer *buffer, int64_t value);

struct cursor {
	const uint8_t *at;
	const uint8_t *end;
	bool failed; /* read past the end, or an invalid varint: reads return 0 */
};

/* Reads a varint of any length; cursor_varint() is faster for a varint of one byte. */
uint64_t cursor_long_varint(struct cursor *cursor);

static inline uint64_t cursor_varint(struct cursor *cursor)
{
	if (cursor->at != cursor->end && *cursor->at < 0x80)
		return *cursor->at++;
	return cursor_long_varint(cursor);
}

/* Reads a zigzag varint (buffer_put_signed()). */
static inline int64_t cursor_signed(struct cursor *cursor)
{
	uint64_t value = cursor_varint(cursor);

	return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Returns a cursor over the whole buffer. */
struct cursor cursor_of(const struct buffer *buffer);
/* Moves past the next @size bytes and returns a cursor over them. */
struct cursor cursor_take(struct cursor *cursor, uint64_t size);

/* Read and write little-endian numbers at any address, aligned or not. */
uint32_t get_le32(const uint8_t *from);
uint16_t get_le16(const uint8_t *from);
void put_le32(uint8_t *to, uint32_t value);
void put_le16(uint8_t *to, uint16_t value);

#endif
