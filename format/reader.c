/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Room for the largest chunk, so that any chunk is seen whole. */
#define WINDOW_SIZE (CHUNK_HEADER_SIZE + RECORDING_MAX_STORED)
#define READ_SIZE   (256u << 10)

struct reader {
	int fd;
	bool at_eof;
	bool any_chunk; /* an intact one was found */
	bool in_damage; /* the last byte was passed over */
	uint8_t *window;
	size_t start, end; /* what of the window is filled and not yet used */
	uint64_t offset;   /* of the window's start in the file */
	struct damage damage;
	struct buffer payload;
};

struct reader *reader_new(int fd)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->fd = fd;
	reader->window = malloc(WINDOW_SIZE);
	if (!reader->window) {
		free(reader);
		return NULL;
	}
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	buffer_free(&reader->payload);
	free(reader->window);
	free(reader);
}

const struct damage *reader_damage(const struct reader *reader)
{
	return &reader->damage;
}

uint64_t reader_offset(const struct reader *reader)
{
	return reader->offset + reader->start;
}

/* Has @wanted bytes in the window if the file has them; -1 when reading fails. */
static int fill(struct reader *reader, size_t wanted, struct error *err)
{
	if (reader->end - reader->start >= wanted || reader->at_eof)
		return 0;
	if (WINDOW_SIZE - reader->start < wanted) {
		memmove(reader->window, reader->window + reader->start,
			reader->end - reader->start);
		reader->offset += reader->start;
		reader->end -= reader->start;
		reader->start = 0;
	}
	while (reader->end - reader->start < wanted && !reader->at_eof) {
		size_t room = WINDOW_SIZE - reader->end;
		ssize_t got = read(reader->fd, reader->window + reader->end,
				   room < READ_SIZE ? room : READ_SIZE);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "can't read the recording");
		reader->at_eof = got == 0;
		reader->end += (size_t)got;
	}
	return 0;
}

static void pass_over(struct reader *reader, size_t bytes)
{
	if (!reader->in_damage) {
		reader->in_damage = true;
		if (!reader->damage.places++)
			reader->damage.first = reader_offset(reader);
	}
	reader->damage.bytes += bytes;
	reader->start += bytes;
}

/* Passes over bytes up to the next that could begin a chunk. */
static void pass_to_magic(struct reader *reader)
{
	const uint8_t *from = reader->window + reader->start + 1;
	size_t left = reader->end - reader->start - 1;
	const uint8_t *magic = memchr(from, CHUNK_MAGIC[0], left);

	pass_over(reader, 1 + (magic ? (size_t)(magic - from) : left));
}

/* 1 when an intact chunk was at the window's start, and is used; 0 when not. */
static int take_chunk(struct reader *reader, unsigned int *type, struct cursor *payload,
		      struct error *err)
{
	const uint8_t *at = reader->window + reader->start;
	size_t left = reader->end - reader->start;
	struct chunk_header header;

	if (left < CHUNK_HEADER_SIZE) {
		if (memcmp(at, CHUNK_MAGIC,
			   left < CHUNK_MAGIC_SIZE ? left : CHUNK_MAGIC_SIZE) == 0)
			reader->damage.cut = true;
		pass_to_magic(reader);
		return 0;
	}
	if (!chunk_header_decode(at, &header)) {
		pass_to_magic(reader);
		return 0;
	}
	if (fill(reader, CHUNK_HEADER_SIZE + header.stored, err) < 0)
		return -1;
	if (reader->end - reader->start < CHUNK_HEADER_SIZE + header.stored) {
		reader->damage.cut = true;
		pass_to_magic(reader);
		return 0;
	}
	at = reader->window + reader->start;
	if (!chunk_decode(&header, at + CHUNK_HEADER_SIZE, &reader->payload)) {
		if (reader->payload.failed)
			return error_set(err, "not enough memory to read the recording");
		/* The header is whole, so its length can be relied on. */
		pass_over(reader, CHUNK_HEADER_SIZE + header.stored);
		return 0;
	}
	reader->start += CHUNK_HEADER_SIZE + header.stored;
	*type = header.type;
	*payload = (struct cursor){.at = reader->payload.data,
				   .end = reader->payload.data + reader->payload.size};
	return 1;
}

int reader_next(struct reader *reader, unsigned int *type, struct cursor *payload,
		struct error *err)
{
	for (;;) {
		int taken;

		if (fill(reader, CHUNK_HEADER_SIZE, err) < 0)
			return -1;
		if (reader->start == reader->end) {
			if (!reader->any_chunk)
				break;
			return 0;
		}
		taken = take_chunk(reader, type, payload, err);
		if (taken > 0) {
			reader->any_chunk = true;
			reader->in_damage = false;
			reader->damage.cut = false; /* it does not end there */
		}
		if (taken)
			return taken;
		if (!reader->any_chunk && reader->damage.bytes > WINDOW_SIZE)
			break;
	}
	return error_set(err, reader_offset(reader) ? "this is no uniprof recording"
						    : "the recording is empty");
}
