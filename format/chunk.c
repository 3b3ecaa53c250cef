/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/chunk.h"

#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

static uint32_t checksum_of(const uint8_t *data, size_t size)
{
	return (uint32_t)crc32_z(0, data, size);
}

bool chunk_header_decode(const uint8_t bytes[CHUNK_HEADER_SIZE],
			 struct chunk_header *header)
{
	if (memcmp(bytes, CHUNK_MAGIC, CHUNK_MAGIC_SIZE) != 0 ||
	    get_le32(bytes + 20) != checksum_of(bytes, 20))
		return false;
	*header = (struct chunk_header){
		.type = get_le16(bytes + 4),
		.encoding = get_le16(bytes + 6),
		.stored = get_le32(bytes + 8),
		.payload = get_le32(bytes + 12),
		.checksum = get_le32(bytes + 16),
	};
	return header->stored <= RECORDING_MAX_STORED &&
	       header->payload <= RECORDING_MAX_PAYLOAD;
}

static void header_encode(uint8_t bytes[CHUNK_HEADER_SIZE],
			  const struct chunk_header *header)
{
	memcpy(bytes, CHUNK_MAGIC, CHUNK_MAGIC_SIZE);
	put_le16(bytes + 4, header->type);
	put_le16(bytes + 6, header->encoding);
	put_le32(bytes + 8, header->stored);
	put_le32(bytes + 12, header->payload);
	put_le32(bytes + 16, header->checksum);
	put_le32(bytes + 20, checksum_of(bytes, 20));
}

bool chunk_decode(const struct chunk_header *header, const uint8_t *stored,
		  struct buffer *payload)
{
	uint8_t *to;
	size_t size;

	buffer_reset(payload);
	if (checksum_of(stored, header->stored) != header->checksum)
		return false;
	to = buffer_extend(payload, header->payload);
	if (!to)
		return false;
	switch (header->encoding) {
	case CHUNK_PLAIN:
		if (header->payload != header->stored)
			return false;
		memcpy(to, stored, header->stored);
		return true;
	case CHUNK_ZSTD:
		size = ZSTD_decompress(to, header->payload, stored, header->stored);
		/* Out of memory is not damage in the file. */
		if (ZSTD_getErrorCode(size) == ZSTD_error_memory_allocation)
			payload->failed = true;
		return size == header->payload;
	default:
		return false;
	}
}

/* Minimum number of bytes of whole fields in a zstd frame. Separate frames let zstd
 * choose entropy codes for each long field. */
#define FRAME_MIN 512

/* Returns the end of the zstd frame that starts at @start. */
static const uint8_t *end_of_frame(struct cursor *payload, const uint8_t *start)
{
	struct field field;

	while (field_next(payload, &field))
		if (payload->at - start >= FRAME_MIN)
			return payload->at;
	return payload->end;
}

/* Compresses the payload into zstd frames at @to. Returns their size; 0 if they don't
 * fit, or if out of memory. */
static size_t compress_payload(ZSTD_CCtx *context, uint8_t *to, size_t room,
			       const struct buffer *payload)
{
	struct cursor cursor = cursor_of(payload);
	const uint8_t *start = cursor.at;
	size_t size = 0;

	while (start < cursor.end) {
		const uint8_t *end = end_of_frame(&cursor, start);
		size_t frame = ZSTD_compress2(context, to + size, room - size, start,
					      (size_t)(end - start));

		if (ZSTD_isError(frame))
			return 0;
		size += frame;
		start = end;
	}
	return size;
}

ZSTD_CCtx *chunk_context(enum chunk_level level)
{
	ZSTD_CCtx *context = ZSTD_createCCtx();

	chunk_set_level(context, level);
	return context;
}

void chunk_set_level(ZSTD_CCtx *context, enum chunk_level level)
{
	if (context)
		ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, (int)level);
}

int chunk_encode_with(ZSTD_CCtx *context, struct buffer *file, enum chunk_type type,
		      const struct buffer *payload)
{
	struct chunk_header header = {.type = (uint16_t)type, .encoding = CHUNK_ZSTD};
	size_t start = file->size, stored = 0;
	size_t bound = context ? ZSTD_compressBound(payload->size) : payload->size;
	uint8_t *to;

	if (payload->failed || payload->size > RECORDING_MAX_PAYLOAD)
		return -1;
	to = buffer_extend(file, CHUNK_HEADER_SIZE + bound);
	if (!to)
		return -1;
	if (context)
		stored = compress_payload(context, to + CHUNK_HEADER_SIZE, bound,
					  payload);
	if (!stored || stored >= payload->size) {
		header.encoding = CHUNK_PLAIN;
		stored = payload->size;
		if (stored)
			memcpy(to + CHUNK_HEADER_SIZE, payload->data, stored);
	}
	header.stored = (uint32_t)stored;
	header.payload = (uint32_t)payload->size;
	header.checksum = checksum_of(to + CHUNK_HEADER_SIZE, stored);
	header_encode(to, &header);
	file->size = start + CHUNK_HEADER_SIZE + stored;
	return 0;
}

/* A place's field is shorter. */
#define PLACE_MOST 64

/* The first zstd frame of a chunk that was read. */
struct first_frame {
	size_t stored, content; /* bytes, compressed and not */
	struct cursor rest;	/* the frames that follow */
};

/* Finds the first frame. False if the chunk is not compressed, or if its place may be in
 * more than that frame. */
static bool find_first_frame(struct first_frame *first, const struct chunk_read *read)
{
	const uint8_t *at = read->whole.at ? read->whole.at + CHUNK_HEADER_SIZE : NULL;
	struct chunk_header header;
	unsigned long long content;

	if (!at || !chunk_header_decode(read->whole.at, &header) ||
	    header.encoding != CHUNK_ZSTD)
		return false;
	first->stored = ZSTD_findFrameCompressedSize(at, header.stored);
	content = ZSTD_getFrameContentSize(at, header.stored);
	if (ZSTD_isError(first->stored) || content > header.payload ||
	    (content < PLACE_MOST && content < header.payload))
		return false;
	first->content = (size_t)content;
	first->rest = (struct cursor){.at = at + first->stored, .end = read->whole.end};
	return true;
}

int chunk_encode_moved(ZSTD_CCtx *context, struct buffer *file, enum chunk_type type,
		       const struct buffer *payload, const struct chunk_read *read)
{
	struct chunk_header header = {.type = (uint16_t)type, .encoding = CHUNK_ZSTD};
	struct first_frame first;
	size_t start = file->size, size, stored, rest, bound;
	uint8_t *to;

	if (payload->failed || payload->size > RECORDING_MAX_PAYLOAD || !context ||
	    !find_first_frame(&first, read))
		return chunk_encode_with(context, file, type, payload);
	/* The place may have become longer or shorter. */
	size = first.content + payload->size -
	       (size_t)(read->payload.end - read->payload.at);
	rest = (size_t)(first.rest.end - first.rest.at);
	bound = ZSTD_compressBound(size);
	to = buffer_extend(file, CHUNK_HEADER_SIZE + bound + rest);
	if (!to)
		return -1;
	stored = ZSTD_compress2(context, to + CHUNK_HEADER_SIZE, bound, payload->data,
				size);
	if (ZSTD_isError(stored) || stored + rest >= payload->size) {
		file->size = start;
		return chunk_encode_with(context, file, type, payload);
	}
	if (rest)
		memcpy(to + CHUNK_HEADER_SIZE + stored, first.rest.at, rest);
	header.stored = (uint32_t)(stored + rest);
	header.payload = (uint32_t)payload->size;
	header.checksum = checksum_of(to + CHUNK_HEADER_SIZE, header.stored);
	header_encode(to, &header);
	file->size = start + CHUNK_HEADER_SIZE + header.stored;
	return 0;
}

int chunk_encode(struct buffer *file, enum chunk_type type, const struct buffer *payload)
{
	ZSTD_CCtx *context = chunk_context(CHUNK_SMALL);
	int status = chunk_encode_with(context, file, type, payload);

	ZSTD_freeCCtx(context);
	return status;
}

int chunk_encode_plain(struct buffer *file, enum chunk_type type,
		       const struct buffer *payload)
{
	return chunk_encode_with(NULL, file, type, payload);
}

void field_put(struct buffer *payload, unsigned int tag, const void *data, size_t size)
{
	buffer_put_varint(payload, tag);
	buffer_put_varint(payload, size);
	buffer_put(payload, data, size);
}

void field_put_number(struct buffer *payload, unsigned int tag, uint64_t value)
{
	size_t length = 1;

	for (uint64_t rest = value; rest >= 0x80; rest >>= 7)
		length++;
	buffer_put_varint(payload, tag);
	buffer_put_varint(payload, length);
	buffer_put_varint(payload, value);
}

bool field_is_new(struct fields_seen *seen, uint64_t tag)
{
	uint64_t bit = tag < 64 ? (uint64_t)1 << tag : 0, before = seen->tags;

	seen->tags |= bit;
	return !(before & bit) && ++seen->count <= FIELDS_MAX;
}

bool field_next(struct cursor *payload, struct field *field)
{
	if (payload->failed || payload->at == payload->end)
		return false;
	field->tag = cursor_varint(payload);
	field->bytes = cursor_take(payload, cursor_varint(payload));
	return !payload->failed;
}
