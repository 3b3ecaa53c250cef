/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/write/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The largest output of a normal recording is perf-script's text: 180 bytes per byte with
 * stacks 12 deep.
 */
#define FREE_BYTES     ((uint64_t)256 << 20)
#define BYTES_FOR_BYTE 1024

uint64_t stream_most(uint64_t recorded)
{
	return FREE_BYTES + BYTES_FOR_BYTE * recorded;
}

/* Whether @size more bytes are within the limit. */
static bool may_put(struct stream *stream, size_t size)
{
	if (stream->recorded && !stream->why &&
	    stream->written + size > stream_most(*stream->recorded)) {
		stream->is_too_much = true;
		stream->why = EFBIG;
	}
	stream->written += size;
	return !stream->is_too_much;
}

static ssize_t put(void *cookie, const char *data, size_t size)
{
	struct stream *stream = cookie;
	size_t done = 0;

	if (!may_put(stream, size))
		return 0;
	while (done < size) {
		ssize_t got = write(stream->fd, data + done, size - done);

		if (got > 0) {
			done += (size_t)got;
		} else if (got == 0 || errno != EINTR) {
			stream->why = stream->why ?: got ? errno : EIO;
			break;
		}
	}
	return (ssize_t)done;
}

static int seek(void *cookie, off64_t *offset, int whence)
{
	struct stream *stream = cookie;
	off64_t place = lseek64(stream->fd, *offset, whence);

	if (place < 0)
		return -1;
	*offset = place;
	return 0;
}

static bool is_whole_file(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
	       !(flags & O_APPEND) && lseek(fd, 0, SEEK_CUR) == 0;
}

FILE *stream_open(struct stream *stream, int fd)
{
	cookie_io_functions_t functions = {.write = put};
	FILE *file;

	*stream = (struct stream){.fd = fd};
	if (is_whole_file(fd))
		functions.seek = seek;
	file = fopencookie(stream, "w", functions);
	if (file)
		setvbuf(file, stream->buffer, _IOFBF, sizeof(stream->buffer));
	return file;
}

int stream_explain(const struct stream *stream, const char *name, struct error *err)
{
	if (stream->is_too_much)
		return error_set(err,
				 "the report would be larger than %" PRIu64
				 " MB: narrow it with --time, --domain or --vcpu",
				 stream_most(*stream->recorded) >> 20);
	if (stream->why)
		return error_errno(err, stream->why, "can't write %s", name);
	return error_set(err, "can't write %s", name);
}
