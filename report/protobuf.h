/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_REPORT_PROTOBUF_H
#define UNIPROF_REPORT_PROTOBUF_H

#include "format/buffer.h"

/*
 * Appends fields of a protocol buffers message to a buffer, which keeps it in mind
 * when memory was short (protobuf.dev, "Encoding": a field is its number and wire
 * type as a varint, then a varint, or a length and as many bytes). The varints are
 * those of the recording.
 */

/* int64, uint64, bool, enum. As proto3 has it, 0 is not written. */
void protobuf_number(struct buffer *message, uint32_t field, uint64_t value);
/* string, bytes, a message, packed numbers. */
void protobuf_bytes(struct buffer *message, uint32_t field, const void *data,
		    size_t size);

#endif
