/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/protobuf.h"

#include <string.h>

/* Wire types */
enum {
	VARINT = 0,
	I64 = 1,
	LEN = 2,
};

static void put_key(struct buffer *message, uint32_t field, unsigned int type)
{
	buffer_put_varint(message, field << 3 | type);
}

void protobuf_number(struct buffer *message, uint32_t field, uint64_t value)
{
	if (value)
		protobuf_member(message, field, value);
}

void protobuf_member(struct buffer *message, uint32_t field, uint64_t value)
{
	put_key(message, field, VARINT);
	buffer_put_varint(message, value);
}

void protobuf_fixed64(struct buffer *message, uint32_t field, uint64_t value)
{
	uint8_t bytes[8];

	if (!value)
		return;
	put_le32(bytes, (uint32_t)value);
	put_le32(bytes + 4, (uint32_t)(value >> 32));
	put_key(message, field, I64);
	buffer_put(message, bytes, sizeof(bytes));
}

void protobuf_bytes(struct buffer *message, uint32_t field, const void *data, size_t size)
{
	protobuf_start(message, field, size);
	buffer_put(message, data, size);
}

void protobuf_start(struct buffer *message, uint32_t field, size_t size)
{
	put_key(message, field, LEN);
	buffer_put_varint(message, size);
}

void protobuf_text(struct buffer *message, uint32_t field, const char *text)
{
	protobuf_bytes(message, field, text, strlen(text));
}

void protobuf_part(struct buffer *message, uint32_t field, struct buffer *part)
{
	protobuf_bytes(message, field, part->data, part->size);
	message->failed |= part->failed;
	buffer_reset(part);
}
