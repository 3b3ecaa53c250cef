/* SPDX-License-Identifier: BSD-3-Clause */
#include "report/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

static bool is_same_file(const struct stat *a, int fd)
{
	struct stat b;

	return fstat(fd, &b) == 0 && a->st_dev == b.st_dev && a->st_ino == b.st_ino;
}

/* Whether it is one of the recordings. */
static bool is_input(const struct stat *file, const struct input *inputs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_same_file(file, inputs[i].fd))
			return true;
	return false;
}

/* Reports can be large, and a call for each 4 KB takes longer than what is in them. */
static FILE *enlarge_buffer(FILE *out)
{
	static char buffer[256 * 1024];

	if (!isatty(fileno(out)))
		setvbuf(out, buffer, _IOFBF, sizeof(buffer));
	return out;
}

FILE *outfile_open(const char *path, const struct input *inputs, size_t count,
		   struct error *err)
{
	struct stat st;
	FILE *out;
	int fd;

	if (is_stdout(path))
		return enlarge_buffer(stdout);
	/* Emptied only when it is known not to be the recording. */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0) {
		error_errno(err, errno, "can't write %s", path);
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		st.st_size = 0;
	else if (is_input(&st, inputs, count)) {
		error_set(err, "can't write %s: it is the recording", path);
		goto failed;
	}
	if (!st.st_size || ftruncate(fd, 0) == 0) {
		out = fdopen(fd, "w");
		if (out)
			return enlarge_buffer(out);
	}
	error_errno(err, errno, "can't write %s", path);
failed:
	close(fd);
	return NULL;
}

int outfile_close(FILE *out, const char *path, struct error *err)
{
	bool failed;
	int why;

	errno = 0;
	failed = fflush(out) != 0 || ferror(out);
	why = errno;
	if (!is_stdout(path) && fclose(out) != 0 && !failed) {
		failed = true;
		why = errno;
	}
	if (!failed)
		return 0;
	err->text[0] = 0;
	if (is_stdout(path))
		path = "standard output";
	if (why && why != EPIPE)
		return error_errno(err, why, "can't write %s", path);
	return why ? -1 : error_set(err, "can't write %s", path);
}
