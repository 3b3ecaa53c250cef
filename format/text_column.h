/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_TEXT_COLUMN_H
#define UNIPROF_FORMAT_TEXT_COLUMN_H

#include "format/buffer.h"
#include "format/recording.h"

/* Columns of texts (FORMAT.md, 5.5): a length, and that many bytes. */

static inline void text_column_put(struct buffer *column, struct recording_text text)
{
	buffer_put_varint(column, text.length);
	buffer_put(column, text.at, text.length);
}

/* Takes the next text, which points into the column. One of more than @most bytes is a
 * failure. */
static inline struct recording_text text_column_take(struct cursor *column, size_t most)
{
	uint64_t length = cursor_varint(column);
	struct cursor bytes;

	if (length > most)
		column->failed = true;
	if (column->failed)
		return (struct recording_text){"", 0};
	bytes = cursor_take(column, length);
	return (struct recording_text){(const char *)bytes.at,
				       (size_t)(bytes.end - bytes.at)};
}

#endif
