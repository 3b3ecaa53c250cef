/* SPDX-License-Identifier: BSD-3-Clause */
#include "output/write/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
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
static bool stream_may_put(struct stream *stream, size_t size)
{
	if (stream->recorded && !stream->why &&
	    stream->written + size > stream_most(*stream->recorded)) {
		stream->is_too_much = true;
		stream->why = EFBIG;
	}
	stream->written += size;
	return !stream->is_too_much;
}

static ssize_t stream_put(void *cookie, const char *data, size_t size)
{
	struct stream *stream = cookie;
	size_t done = 0;

	if (!stream_may_put(stream, size))
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

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
	struct stream *stream = cookie;
	off64_t place = lseek64(stream->fd, *offset, whence);

	if (place < 0)
		return -1;
	*offset = place;
	return 0;
}

/* Whether @fd is at the start of a regular file, in which it can seek. */
static bool is_start_of_file(int fd)
{
	struct stat st;
	int flags = fcntl(fd, F_GETFL);

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && flags >= 0 &&
	       !(flags & O_APPEND) && lseek(fd, 0, SEEK_CUR) == 0;
}

FILE *stream_open(struct stream *stream, int fd)
{
	cookie_io_functions_t functions = {.write = stream_put};
	FILE *file;

	*stream = (struct stream){.fd = fd};
	if (is_start_of_file(fd))
		functions.seek = stream_seek;
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

static bool outfile_is_stdout(const struct outfile *out)
{
	return out->file.fd == STDOUT_FILENO;
}

int outfile_open(struct outfile *out, const char *path, struct error *err)
{
	if (replace_open(&out->file, path, 0666, false, err) < 0)
		return -1;
	out->writes = (struct stream){0};
	/* Outputs that fit their lines to a terminal need its descriptor. */
	if (outfile_is_stdout(out) && isatty(STDOUT_FILENO)) {
		out->stream = stdout;
		return 0;
	}
	out->stream = stream_open(&out->writes, out->file.fd);
	if (out->stream)
		return 0;
	error_errno(err, errno, "can't write %s", path ?: "standard output");
	replace_abandon(&out->file);
	return -1;
}

/* Writes the rest; false if this or an earlier write failed. */
static bool outfile_finish(struct outfile *out)
{
	bool failed = fflush(out->stream) != 0 || ferror(out->stream);

	if (out->stream != stdout)
		failed |= fclose(out->stream) != 0;
	return !failed;
}

int outfile_close(struct outfile *out, bool is_complete, struct error *err)
{
	const char *name = outfile_is_stdout(out) ? "standard output" : out->file.path;
	bool is_written = outfile_finish(out);

	err->text[0] = 0;
	if (is_written && is_complete)
		return replace_commit(&out->file, err);
	replace_abandon(&out->file);
	if (is_written)
		return 0;
	return out->writes.why == EPIPE ? -1 : stream_explain(&out->writes, name, err);
}

/* Where tmpfile() creates its files. */
#define SPOOL_NAME "a temporary file in " P_tmpdir

int spool_open(struct spool *spool, const uint64_t *recorded, struct error *err)
{
	FILE *file = tmpfile();
	int fd = file ? fcntl(fileno(file), F_DUPFD_CLOEXEC, 0) : -1;

	*spool = (struct spool){0};
	if (fd >= 0)
		spool->out = stream_open(&spool->writes, fd);
	if (!spool->out)
		error_errno(err, errno, "can't create " SPOOL_NAME);
	if (!spool->out && fd >= 0)
		close(fd);
	if (file)
		fclose(file);
	spool->writes.recorded = recorded;
	return spool->out ? 0 : -1;
}

int spool_read(struct spool *spool, struct error *err)
{
	bool failed = ferror(spool->out);

	failed |= fclose(spool->out) != 0; /* writes the rest */
	spool->out = NULL;
	if (failed) {
		close(spool->writes.fd);
		return stream_explain(&spool->writes, SPOOL_NAME, err);
	}
	spool->in = fdopen(spool->writes.fd, "r");
	if (spool->in) {
		rewind(spool->in);
		return 0;
	}
	error_errno(err, errno, "can't read " SPOOL_NAME);
	close(spool->writes.fd);
	return -1;
}

int spool_check(const struct spool *spool, struct error *err)
{
	if (spool->out && ferror(spool->out))
		return stream_explain(&spool->writes, SPOOL_NAME, err);
	if (spool->in && ferror(spool->in))
		return error_set(err, "can't read " SPOOL_NAME);
	return 0;
}

void spool_close(struct spool *spool)
{
	if (spool->out) {
		fclose(spool->out);
		close(spool->writes.fd);
	}
	if (spool->in)
		fclose(spool->in);
	*spool = (struct spool){0};
}
