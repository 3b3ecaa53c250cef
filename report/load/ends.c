/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/load/ends.h"

#include <stdlib.h>
#include <unistd.h>

#include "format/chunk.h"

struct ends {
	struct recording_info info; /* contents of the first INFO chunk */
	struct recording_end end;   /* contents of the last END chunk */
	bool has_info, has_end;
};

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
	return pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool read_payload(int fd, const struct chunk_header *header, uint64_t offset,
			 struct buffer *payload)
{
	uint8_t *stored = malloc(header->stored + (size_t)1);
	bool is_read = stored && read_at(fd, stored, header->stored, offset) &&
		       chunk_decode(header, stored, payload);

	free(stored);
	return is_read;
}

/* Decodes the payload at @offset if it is INFO or END. */
static bool ends_take(struct ends *ends, int fd, const struct chunk_header *header,
		      uint64_t offset)
{
	bool is_info = header->type == CHUNK_INFO && !ends->has_info;
	struct buffer payload = {0};
	struct cursor cursor;
	bool is_whole;

	if (!is_info && header->type != CHUNK_END)
		return true;
	is_whole = read_payload(fd, header, offset, &payload);
	if (is_whole) {
		cursor = cursor_of(&payload);
		if (is_info)
			is_whole = info_decode(cursor, &ends->info) == 0;
		else
			is_whole = end_decode(cursor, &ends->end) == 0;
		ends->has_info |= is_info;
		ends->has_end |= !is_info;
	}
	buffer_free(&payload);
	return is_whole;
}

bool ends_read(const struct input *input, struct summary *summary)
{
	uint64_t at = (uint64_t)input->start, end = input->size;
	struct ends ends = {0};

	if (input->start < 0)
		return false;
	while (at < end) {
		uint8_t bytes[CHUNK_HEADER_SIZE];
		struct chunk_header header;

		if (end - at < sizeof(bytes) ||
		    !read_at(input->fd, bytes, sizeof(bytes), at) ||
		    !chunk_header_decode(bytes, &header))
			return false;
		at += sizeof(bytes);
		if (end - at < header.stored || !ends_take(&ends, input->fd, &header, at))
			return false;
		at += header.stored;
	}
	if (!ends.has_info || !ends.has_end || ends.info.version > RECORDING_VERSION)
		return false;
	summary_add_info(summary, &ends.info);
	summary->end = ends.end;
	summary->has_end = true;
	return true;
}
