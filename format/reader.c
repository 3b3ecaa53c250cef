/* SPDX-License-Identifier: BSD-3-Clause */
#include "format/reader.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "format/file_kind.h"

#define CHUNK_MAX (CHUNK_HEADER_SIZE + RECORDING_MAX_STORED)

/* Initial size of the window, bytes; enough for the chunks of most recordings. A larger
 * chunk makes it grow, because each is read as a whole. */
#define WINDOW_FIRST (64u << 10)

struct reader {
	int fd;
	int stop;     /* descriptor that stops reading when readable; -1: none */
	bool follows; /* reader_follow() was called */
	enum chunk_type only[2]; /* the only chunks to decode; CHUNK_NONE: all */
	bool grows;		 /* the followed input is a file, which may grow */
	bool at_eof;
	bool any_chunk; /* an intact chunk was found */
	bool in_damage; /* the last byte was skipped */
	uint8_t *window;
	size_t room;	   /* size of the window, bytes */
	size_t start, end; /* filled and unused part of the window */
	uint64_t offset;   /* file offset of the window's start */
	const struct file_kind
		*kind; /* kind of a file that starts with no chunk, or NULL */
	struct damage damage;
	struct buffer payload;
	size_t whole; /* size of the chunk before the window's start, bytes */
};

struct reader *reader_new(int fd)
{
	struct reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return NULL;
	reader->fd = fd;
	reader->stop = -1;
	reader->room = WINDOW_FIRST;
	reader->window = malloc(reader->room);
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

void reader_stop_at(struct reader *reader, int stop)
{
	reader->stop = stop;
}

void reader_follow(struct reader *reader)
{
	struct stat st;

	reader->follows = true;
	reader->grows = fstat(reader->fd, &st) == 0 && S_ISREG(st.st_mode);
}

void reader_only(struct reader *reader, enum chunk_type one, enum chunk_type other)
{
	reader->only[0] = one;
	reader->only[1] = other;
}

bool reader_ended(const struct reader *reader)
{
	return reader->at_eof;
}

struct cursor reader_whole(const struct reader *reader)
{
	const uint8_t *end = reader->window + reader->start;

	return (struct cursor){.at = end - reader->whole, .end = end};
}

const struct damage *reader_damage(const struct reader *reader)
{
	return &reader->damage;
}

uint64_t reader_offset(const struct reader *reader)
{
	return reader->offset + reader->start;
}

/* Waits for input; false if reading should stop. */
static bool wait_for_input(const struct reader *reader)
{
	struct pollfd fds[] = {{reader->fd, POLLIN, 0}, {reader->stop, POLLIN, 0}};

	if (reader->stop < 0)
		return true;
	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

/* Returns whether a read returns at once, with data or with the end of the file. */
static bool has_input(const struct reader *reader)
{
	struct pollfd fd = {reader->fd, POLLIN, 0};

	return poll(&fd, 1, 0) > 0;
}

/* Makes room at the end of the window, which holds less than CHUNK_MAX bytes. The
 * window only doubles, whatever size a header claims: the file may be shorter. -1 if
 * out of memory. */
static int make_room(struct reader *reader, struct error *err)
{
	size_t room = reader->room * 2 < CHUNK_MAX ? reader->room * 2 : CHUNK_MAX;

	if (reader->start) {
		memmove(reader->window, reader->window + reader->start,
			reader->end - reader->start);
		reader->offset += reader->start;
		reader->end -= reader->start;
		reader->start = 0;
	}
	if (reader->end < reader->room)
		return 0;
	if (!array_grow(&reader->window, room, 1))
		return error_set(err, "out of memory reading the recording");
	reader->room = room;
	return 0;
}

/* Fills the window to @wanted bytes, or with all that is there: up to the end of the file
 * or, of a followed recording, with the part written so far. -1 on error. */
static int reader_fill(struct reader *reader, size_t wanted, struct error *err)
{
	while (reader->end - reader->start < wanted && !reader->at_eof) {
		ssize_t got;

		if (make_room(reader, err) < 0)
			return -1;
		if (!wait_for_input(reader))
			return error_set(err, "reading was stopped");
		if (reader->follows && !has_input(reader))
			return 0;
		got = read(reader->fd, reader->window + reader->end,
			   reader->room - reader->end);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return error_errno(err, errno, "can't read the recording");
		if (got == 0 && reader->grows)
			return 0;
		reader->at_eof = got == 0;
		reader->end += (size_t)got;
	}
	return 0;
}

/* Returns whether the window holds less than @wanted bytes, and the rest may follow. */
static bool is_partial(const struct reader *reader, size_t wanted)
{
	return reader->end - reader->start < wanted && !reader->at_eof;
}

static void pass_over(struct reader *reader, size_t bytes)
{
	if (!reader_offset(reader))
		reader->kind = file_kind_of(reader->window, reader->end);
	if (!reader->in_damage) {
		reader->in_damage = true;
		if (!reader->damage.places++)
			reader->damage.first = reader_offset(reader);
	}
	reader->damage.bytes += bytes;
	reader->start += bytes;
}

/* Skips to the next byte at which a chunk may start. */
static void pass_to_magic(struct reader *reader)
{
	const uint8_t *from = reader->window + reader->start + 1;
	size_t left = reader->end - reader->start - 1;
	const uint8_t *magic = memchr(from, (uint8_t)CHUNK_MAGIC[0], left);

	pass_over(reader, 1 + (magic ? (size_t)(magic - from) : left));
}

/* Results of take_chunk(): the chunk is not complete yet, and nothing was consumed; or it
 * was passed over. */
#define PARTIAL 2
#define PASSED	3

/* Consumes an intact chunk at the window's start: 1, or PASSED; 0 if there is none;
 * PARTIAL; or -1 on error. */
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
	if (reader_fill(reader, CHUNK_HEADER_SIZE + header.stored, err) < 0)
		return -1;
	if (is_partial(reader, CHUNK_HEADER_SIZE + header.stored))
		return PARTIAL;
	if (reader->end - reader->start < CHUNK_HEADER_SIZE + header.stored) {
		reader->damage.cut = true;
		pass_to_magic(reader);
		return 0;
	}
	if (reader->only[0] != CHUNK_NONE && header.type != reader->only[0] &&
	    header.type != reader->only[1]) {
		reader->start += CHUNK_HEADER_SIZE + header.stored;
		return PASSED;
	}
	at = reader->window + reader->start;
	if (!chunk_decode(&header, at + CHUNK_HEADER_SIZE, &reader->payload)) {
		if (reader->payload.failed)
			return error_set(err, "out of memory reading the recording");
		/* The header is intact, so its length can be trusted. */
		pass_over(reader, CHUNK_HEADER_SIZE + header.stored);
		return 0;
	}
	reader->whole = CHUNK_HEADER_SIZE + header.stored;
	reader->start += reader->whole;
	*type = header.type;
	*payload = cursor_of(&reader->payload);
	return 1;
}

/* Sets @err to why the file is not a recording. Returns -1. */
static int refuse_file(const struct reader *reader, struct error *err)
{
	if (!reader_offset(reader))
		return error_set(err, "the recording is empty");
	if (!reader->kind)
		return error_set(err, "not a uniprof recording");
	return error_set(err, "not a uniprof recording but %s; %s", reader->kind->name,
			 reader->kind->advice);
}

int reader_next(struct reader *reader, unsigned int *type, struct cursor *payload,
		struct error *err)
{
	for (;;) {
		int taken = PARTIAL;

		if (reader_fill(reader, CHUNK_HEADER_SIZE, err) < 0)
			return -1;
		if (!is_partial(reader, CHUNK_HEADER_SIZE) &&
		    reader->start == reader->end) {
			if (!reader->any_chunk)
				break;
			return 0;
		}
		if (!is_partial(reader, CHUNK_HEADER_SIZE))
			taken = take_chunk(reader, type, payload, err);
		if (taken == PARTIAL) {
			if (!reader->any_chunk && reader->damage.bytes)
				break;
			return 0;
		}
		if (taken > 0) {
			reader->any_chunk = true;
			reader->in_damage = false;
			reader->damage.cut = false; /* the file goes on */
		}
		if (taken && taken != PASSED)
			return taken;
		if (!reader->any_chunk && reader->damage.bytes > CHUNK_MAX)
			break;
	}
	return refuse_file(reader, err);
}
