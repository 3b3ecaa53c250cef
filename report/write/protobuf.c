/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/write/protobuf.h"

/* Wire types (protobuf.dev, "Encoding"). */
#define VARINT 0
#define LEN    2

void protobuf_number(struct buffer *message, uint32_t field, uint64_t value)
{
	if (!value)
		return;
	buffer_put_varint(message, field << 3 | VARINT);
	buffer_put_varint(message, value);
}

void protobuf_bytes(struct buffer *message, uint32_t field, const void *data, size_t size)
{
	buffer_put_varint(message, field << 3 | LEN);
	buffer_put_varint(message, size);
	buffer_put(message, data, size);
}
