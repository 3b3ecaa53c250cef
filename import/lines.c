/* SPDX-License-Identifier: BSD-3-Clause */
#include "import/lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "format/file_kind.h"

/* Initial size of the buffer, bytes; it grows to the longest line, with its line end */
#define ROOM_FIRST ((size_t)64 << 10)
#define ROOM_MAX   ((size_t)LINES_MAX + 2)

int lines_init(struct lines *lines, int fd)
{
	*lines = (struct lines){
		.fd = fd, .buffer = malloc(ROOM_FIRST), .room = ROOM_FIRST};
	return lines->buffer ? 0 : -1;
}

void lines_free(struct lines *lines)
{
	free(lines->buffer);
	lines->buffer = NULL;
}

/* Makes room at the end of the buffer, which holds less than ROOM_MAX bytes. */
static int make_room(struct lines *lines, struct error *err)
{
	size_t room = lines->room * 2 < ROOM_MAX ? lines->room * 2 : ROOM_MAX;

	if (lines->start) {
		memmove(lines->buffer, lines->buffer + lines->start,
			lines->end - lines->start);
		lines->end -= lines->start;
		lines->start = 0;
	}
	if (lines->end < lines->room)
		return 0;
	if (!array_grow(&lines->buffer, room, 1))
		return error_set(err, "out of memory");
	lines->room = room;
	return 0;
}

/* Sets @err to why the first @size bytes of the buffer are not text. Returns -1. */
static int refuse_bytes(const struct lines *lines, size_t size, struct error *err)
{
	const struct file_kind *kind = NULL;

	if (!lines->number) /* the buffer still has the start of the input */
		kind = file_kind_of(lines->buffer, size);
	if (!kind)
		return error_set(err, "not text: it contains a NUL byte");
	return error_set(err, "not text but %s; %s", kind->name, kind->advice);
}

static int read_more(struct lines *lines, struct error *err)
{
	ssize_t got;

	if (make_room(lines, err) < 0)
		return -1;
	do
		got = read(lines->fd, lines->buffer + lines->end,
			   lines->room - lines->end);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return error_errno(err, errno, "can't read");
	lines->at_eof = got == 0;
	if (memchr(lines->buffer + lines->end, 0, (size_t)got))
		return refuse_bytes(lines, lines->end + (size_t)got, err);
	lines->end += (size_t)got;
	return 0;
}

/* Returns the line from @from to @end, without the CR of a CR LF. */
static struct recording_text make_line(const char *from, const char *end)
{
	if (end > from && end[-1] == '\r')
		end--;
	return (struct recording_text){from, (size_t)(end - from)};
}

/* Skips the rest of a line. */
static int skip_line(struct lines *lines, struct error *err)
{
	const char *end;

	for (;;) {
		end = memchr(lines->buffer + lines->start, '\n',
			     lines->end - lines->start);
		lines->start = end ? (size_t)(end + 1 - lines->buffer) : lines->end;
		if (end || lines->at_eof)
			return 0;
		if (read_more(lines, err) < 0)
			return -1;
	}
}

int lines_next(struct lines *lines, struct recording_text *line, struct error *err)
{
	size_t searched = 0, size;
	const char *from, *end;

	for (;;) {
		from = lines->buffer + lines->start;
		size = lines->end - lines->start;
		end = memchr(from + searched, '\n', size - searched);
		if (end || lines->at_eof || size > LINES_MAX)
			break;
		searched = size;
		if (read_more(lines, err) < 0)
			return -1;
	}
	if (!end && !size)
		return 0;
	lines->number++;
	if (!end)
		end = from + size;
	if (end - from > LINES_MAX) {
		if (skip_line(lines, err) < 0)
			return -1;
		error_set(err, "longer than %u bytes", LINES_MAX);
		return LINES_BAD;
	}
	lines->start = (size_t)(end - lines->buffer) + (end < from + size);
	*line = make_line(from, end);
	return 1;
}

int lines_ahead(struct lines *lines, size_t *ahead, struct recording_text *line,
		struct error *err)
{
	const char *from, *end;
	size_t size;

	for (;;) {
		from = lines->buffer + lines->start + *ahead;
		size = lines->end - lines->start - *ahead;
		end = memchr(from, '\n', size);
		if (end || lines->at_eof || lines->end - lines->start == ROOM_MAX)
			break;
		if (read_more(lines, err) < 0)
			return -1;
	}
	if (!end && (!lines->at_eof || !size))
		return 0;
	*ahead += end ? (size_t)(end - from) + 1 : size;
	*line = make_line(from, end ? end : from + size);
	return 1;
}
