/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/buffer.h"

#include <stdlib.h>
#include <string.h>

/* Maximum length of a varint of 64 bits, bytes */
#define VARINT_MAX 10

void buffer_free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){0};
}

void buffer_reset(struct buffer *buffer)
{
	buffer->size = 0;
	buffer->failed = false;
}

static bool buffer_reserve(struct buffer *buffer, size_t size)
{
	size_t capacity = buffer->capacity ? buffer->capacity : 256;
	uint8_t *data;

	if (buffer->failed)
		return false;
	if (buffer->data && size <= buffer->capacity - buffer->size)
		return true;
	while (capacity - buffer->size < size) {
		if (capacity > SIZE_MAX / 2)
			goto fail;
		capacity *= 2;
	}
	data = realloc(buffer->data, capacity);
	if (!data)
		goto fail;
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
fail:
	buffer->failed = true;
	return false;
}

uint8_t *buffer_extend(struct buffer *buffer, size_t size)
{
	uint8_t *at;

	if (!buffer_reserve(buffer, size))
		return NULL;
	at = buffer->data + buffer->size;
	buffer->size += size;
	return at;
}

void buffer_put(struct buffer *buffer, const void *data, size_t size)
{
	uint8_t *at;

	if (!size)
		return;
	at = buffer_extend(buffer, size);
	if (at)
		memcpy(at, data, size);
}

void buffer_put_long_varint(struct buffer *buffer, uint64_t value)
{
	uint8_t *at;

	if (!buffer_reserve(buffer, VARINT_MAX))
		return;
	at = buffer->data + buffer->size;
	while (value >= 0x80) {
		*at++ = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	*at++ = (uint8_t)value;
	buffer->size = (size_t)(at - buffer->data);
}

void buffer_put_signed(struct buffer *buffer, int64_t value)
{
	uint64_t twice = (uint64_t)value << 1;

	buffer_put_varint(buffer, value < 0 ? ~twice : twice);
}

uint64_t cursor_long_varint(struct cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; shift < 64; shift += 7) {
		uint8_t byte;

		if (cursor->at == cursor->end)
			break;
		byte = *cursor->at++;
		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	cursor->failed = true;
	cursor->at = cursor->end;
	return 0;
}

struct cursor cursor_of(const struct buffer *buffer)
{
	/* Not NULL for a buffer that has no memory: NULL + 0 is undefined in C. */
	static const uint8_t nothing[1];
	const uint8_t *start = buffer->data ? buffer->data : nothing;

	return (struct cursor){start, start + buffer->size, false};
}

struct cursor cursor_take(struct cursor *cursor, uint64_t size)
{
	struct cursor taken = {cursor->at, cursor->at, false};

	if (size > (uint64_t)(cursor->end - cursor->at)) {
		cursor->failed = true;
		cursor->at = cursor->end;
		taken.failed = true;
		return taken;
	}
	cursor->at += size;
	taken.end = cursor->at;
	return taken;
}

uint16_t get_le16(const uint8_t *from)
{
	return (uint16_t)(from[0] | from[1] << 8);
}

uint32_t get_le32(const uint8_t *from)
{
	return get_le16(from) | (uint32_t)get_le16(from + 2) << 16;
}

void put_le16(uint8_t *to, uint16_t value)
{
	to[0] = (uint8_t)value;
	to[1] = (uint8_t)(value >> 8);
}

void put_le32(uint8_t *to, uint32_t value)
{
	put_le16(to, (uint16_t)value);
	put_le16(to + 2, (uint16_t)(value >> 16));
}
