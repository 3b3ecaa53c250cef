/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

#define FIRST_ROOM   ((size_t)1 << 16)
#define PIPE_MAX     ((size_t)1 << 30)
#define READ_AT_ONCE ((size_t)1 << 20)

static int check_type(const struct stat *st, const char *name, struct error *err)
{
	if (S_ISDIR(st->st_mode))
		return error_set(err, "%s is a directory; name a symbol file in it",
				 name);
	if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode))
		return error_set(err, "%s is neither a file nor a pipe", name);
	return 0;
}

/* Reads some bytes, waiting while the pipe is empty; 0 at the end. */
static ssize_t read_some(int fd, void *buffer, size_t size)
{
	for (;;) {
		ssize_t got = read(fd, buffer, size);
		struct pollfd ready = {.fd = fd, .events = POLLIN};

		if (got >= 0 || (errno != EAGAIN && errno != EINTR))
			return got;
		if (errno == EAGAIN)
			poll(&ready, 1, -1);
	}
}

static int read_all(struct symbols_source *source, int fd, const char *name,
		    struct error *err)
{
	size_t room = 0;

	for (;;) {
		size_t want;
		ssize_t got;

		if (source->size == room) {
			room = room ? room * 2 : FIRST_ROOM;
			if (!array_grow(&source->data, room, 1))
				return error_set(err, "%s: out of memory", name);
		}
		want = room - source->size;
		if (want > READ_AT_ONCE)
			want = READ_AT_ONCE;
		got = read_some(fd, (char *)source->data + source->size, want);
		if (got < 0)
			return error_errno(err, errno, "can't read %s", name);
		if (got == 0)
			return 0;
		source->size += (size_t)got;
		if (source->size > PIPE_MAX)
			return error_set(
				err,
				"%s: more than 1 GiB of input; save it to a file "
				"and use that",
				name);
	}
}

static int open_checked(const char *path, const char *name, struct stat *st,
			struct error *err)
{
	int fd;

	if (stat(path, st))
		return error_errno(err, errno, "can't open %s", name);
	if (check_type(st, name, err))
		return -1;
	/* Without O_NONBLOCK, opening a FIFO without a writer would block. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_errno(err, errno, "can't open %s", name);
	/* The path may refer to another file by now, so check again. */
	if (fstat(fd, st)) {
		error_errno(err, errno, "can't open %s", name);
		close(fd);
		return -1;
	}
	if (check_type(st, name, err)) {
		close(fd);
		return -1;
	}
	return fd;
}

int symbols_source_open(struct symbols_source *source, const char *path, const char *name,
			struct error *err)
{
	struct stat st;
	int status = -1;
	int fd;

	*source = (struct symbols_source){0};
	fd = open_checked(path, name, &st, err);
	if (fd < 0)
		return -1;
	if (S_ISREG(st.st_mode) && st.st_size > 0 && (uint64_t)st.st_size <= SIZE_MAX) {
		void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
				  0);

		if (data != MAP_FAILED) {
			*source = (struct symbols_source){data, (size_t)st.st_size, true};
			status = 0;
			goto out;
		}
		/* Files of some file systems (sysfs) can be read, but not mapped. */
	}
	if (read_all(source, fd, name, err))
		goto out;
	if (!source->size) {
		error_set(err, "%s is empty, not a symbol file", name);
		goto out;
	}
	status = 0;
out:
	if (status)
		symbols_source_close(source);
	close(fd);
	return status;
}

void symbols_source_close(struct symbols_source *source)
{
	if (source->mapped)
		munmap(source->data, source->size);
	else
		free(source->data);
	*source = (struct symbols_source){0};
}
