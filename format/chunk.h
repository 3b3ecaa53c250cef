/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FORMAT_CHUNK_H
#define UNIPROF_FORMAT_CHUNK_H

#include <stdbool.h>

#include "base/error.h"
#include "format/buffer.h"
#include "format/recording.h"

/*
 * The container for everything in a recording: a header with its own checksum, then the
 * stored bytes. A payload is a list of fields (tag, length, bytes) in any order; readers
 * skip unknown tags.
 */
#define CHUNK_HEADER_SIZE 24
#define CHUNK_MAGIC	  "\xabUPR"
#define CHUNK_MAGIC_SIZE  4

struct chunk_header {
	uint16_t type;	   /* enum chunk_type, or a type of a later version */
	uint16_t encoding; /* enum chunk_encoding */
	uint32_t stored;   /* size of the stored bytes that follow the header */
	uint32_t payload;  /* size of the decoded payload, bytes */
	uint32_t checksum; /* CRC-32 of the stored bytes */
};

enum chunk_encoding {
	CHUNK_PLAIN = 0,
	CHUNK_ZSTD = 1,
};

/* Decodes a header. False if it is invalid, or if a size in it exceeds its limit. */
bool chunk_header_decode(const uint8_t bytes[CHUNK_HEADER_SIZE],
			 struct chunk_header *header);

/*
 * Checks the stored bytes of a chunk and decompresses them into @payload, which is
 * emptied first. False if the bytes are damaged, or if out of memory, which also sets
 * @payload->failed.
 */
bool chunk_decode(const struct chunk_header *header, const uint8_t *stored,
		  struct buffer *payload);

/* Appends a whole chunk to @file: header and @payload, compressed if the chunk is then
 * smaller. -1 if out of memory, or if a limit is exceeded. */
int chunk_encode(struct buffer *file, enum chunk_type type, const struct buffer *payload);

/* zstd's levels that are used. */
enum chunk_level {
	/* For parts of copies: a quarter of CHUNK_SMALL's time, for 1/18 more bytes.
	 */
	CHUNK_FAST = 1,
	/* The lowest level with optimal parsing (btopt) for small inputs: chunks are 1/16
	 * smaller than at zstd's default level, at a cost of 0.3 us per sample. */
	CHUNK_SMALL = 11,
};

/* zstd's memory, freed by ZSTD_freeCCtx(); NULL if out of memory. */
struct ZSTD_CCtx_s; /* ZSTD_CCtx */
struct ZSTD_CCtx_s *chunk_context(enum chunk_level level);
/* Changes the level; a @context of NULL is allowed. */
void chunk_set_level(struct ZSTD_CCtx_s *context, enum chunk_level level);

/*
 * Like chunk_encode(), with zstd's memory, which the caller keeps from one chunk to the
 * next: its allocation takes longer than the compression of a small chunk. With a
 * @context of NULL, the chunk is not compressed.
 */
int chunk_encode_with(struct ZSTD_CCtx_s *context, struct buffer *file,
		      enum chunk_type type, const struct buffer *payload);

/* A chunk as it was read. */
struct chunk_read {
	struct cursor payload;
	struct cursor
		whole; /* its header and stored bytes; NULL if they are not at hand */
};

/*
 * Like chunk_encode_with(), for @payload, which differs from that of @read in its place
 * only. Of the compressed bytes, only the first frame, which the place is in, is
 * compressed anew.
 */
int chunk_encode_moved(struct ZSTD_CCtx_s *context, struct buffer *file,
		       enum chunk_type type, const struct buffer *payload,
		       const struct chunk_read *read);

/* Like chunk_encode(), without compression. */
int chunk_encode_plain(struct buffer *file, enum chunk_type type,
		       const struct buffer *payload);

/* Append a field to a payload. */
void field_put(struct buffer *payload, unsigned int tag, const void *data, size_t size);
void field_put_number(struct buffer *payload, unsigned int tag, uint64_t value);

struct field {
	uint64_t tag;
	struct cursor bytes;
};

/* Takes the next field of a payload; false at the end, and if the payload is damaged. */
bool field_next(struct cursor *payload, struct field *field);

/* Maximum number of fields in a payload; a payload with more is damaged. */
#define FIELDS_MAX 4096

/* The fields of a payload so far; starts as zeros. */
struct fields_seen {
	uint64_t tags;	/* bit mask of the tags below 64 seen so far */
	uint32_t count; /* number of fields, including unknown ones */
};

/* Counts a field with the tag @tag. False if the payload is damaged: it has a tag below
 * 64 twice, or more than FIELDS_MAX fields. Tags from 64 on are unknown and may be
 * repeated.
 */
bool field_is_new(struct fields_seen *seen, uint64_t tag);

/* Encode and decode the payloads of chunks that describe a recording. Decoding sets
 * missing fields to 0 or empty, and returns -1 for a damaged payload. */
void info_encode(struct buffer *payload, const struct recording_info *info);
int info_decode(struct cursor payload, struct recording_info *info);
void domain_encode(struct buffer *payload, const struct recording_domain *domain);
int domain_decode(struct cursor payload, struct recording_domain *domain);
void program_encode(struct buffer *payload, const struct recording_program *program);
int program_decode(struct cursor payload, struct recording_program *program);
void end_encode(struct buffer *payload, const struct recording_end *end);
int end_decode(struct cursor payload, struct recording_end *end);

#endif
