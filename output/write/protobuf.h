/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_OUTPUT_WRITE_PROTOBUF_H
#define UNIPROF_OUTPUT_WRITE_PROTOBUF_H

#include "format/buffer.h"

/*
 * Append fields of protocol buffers messages to a buffer, which records if it ran out of
 * memory (protobuf.dev, "Encoding"): a field is its number and wire type as a varint,
 * then a varint, 8 bytes, or a length and as many bytes. Varints are encoded as in
 * recordings.
 */

/* Appends a field of type int32, int64, uint64, bool or enum. As in proto3, 0 is not
 * written. */
void protobuf_number(struct buffer *message, uint32_t field, uint64_t value);

/* Like protobuf_number(), but also writes 0: for members of a oneof. */
void protobuf_member(struct buffer *message, uint32_t field, uint64_t value);

/* Appends a field of type fixed64. 0 is not written. */
void protobuf_fixed64(struct buffer *message, uint32_t field, uint64_t value);

/* Appends a field of type string, bytes, a message, or packed numbers. */
void protobuf_bytes(struct buffer *message, uint32_t field, const void *data,
		    size_t size);
/* Appends the start of such a field, to be followed by @size bytes. */
void protobuf_start(struct buffer *message, uint32_t field, size_t size);
void protobuf_text(struct buffer *message, uint32_t field, const char *text);

/* Appends @part as a field, and empties it. If it ran out of memory, so did @message. */
void protobuf_part(struct buffer *message, uint32_t field, struct buffer *part);

#endif
