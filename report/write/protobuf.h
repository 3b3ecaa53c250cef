/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_WRITE_PROTOBUF_H
#define UNIPROF_REPORT_WRITE_PROTOBUF_H

#include "format/buffer.h"

/*
 * Appends fields of a protocol buffers message to a buffer, which records if it ran out
 * of memory (protobuf.dev, "Encoding": a field is its number and wire type as a varint,
 * then a varint, or a length and as many bytes). Varints are encoded as in recordings.
 */

/* int64, uint64, bool, enum. As in proto3, 0 is not written. */
void protobuf_number(struct buffer *message, uint32_t field, uint64_t value);
/* string, bytes, a message, packed numbers. */
void protobuf_bytes(struct buffer *message, uint32_t field, const void *data,
		    size_t size);

#endif
