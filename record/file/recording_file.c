/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/file/recording_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Minimum free space, bytes: room for the description of a few domains */
#define LEAST_ROOM 4096

/*
 * Detects a full disk while the empty file can still be removed: before sampling starts,
 * the process drops its access to files.
 */
static int check_room(const struct recording_file *file)
{
	struct stat stat;

	if (fstat(file->fd, &stat) < 0 || !S_ISREG(stat.st_mode))
		return 0;
	errno = posix_fallocate(file->fd, 0, LEAST_ROOM);
	if (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO)
		return -1;
	return ftruncate(file->fd, 0);
}

/* Creates a file next to the recording that it will replace. */
static int open_beside(struct recording_file *file)
{
	const char *slash = strrchr(file->path, '/');
	int folder = slash ? (int)(slash + 1 - file->path) : 0;

	if (asprintf(&file->old, "%s.old", file->path) < 0)
		file->old = NULL;
	if (!file->old ||
	    asprintf(&file->temporary, "%.*s.uniprof-XXXXXX", folder, file->path) < 0) {
		file->temporary = NULL;
		errno = ENOMEM;
		return -1;
	}
	return mkostemp(file->temporary, O_CLOEXEC);
}

/* Removes a new file whose recording has not begun. */
static void remove_new(struct recording_file *file)
{
	if (file->fd >= 0 && file->temporary)
		unlink(file->temporary);
	else if (file->fd >= 0 && file->is_new)
		unlink(file->path);
}

static void free_paths(struct recording_file *file)
{
	free(file->old);
	free(file->temporary);
	*file = (struct recording_file){0};
}

int recording_file_open(struct recording_file *file, const char *path, struct error *err)
{
	bool exists, is_kept;
	struct stat other;

	*file = (struct recording_file){.path = path};
	if (strcmp(path, "-") == 0) {
		file->path = NULL;
		file->fd = STDOUT_FILENO;
		return 0;
	}
	exists = lstat(path, &other) == 0;
	file->is_new = !exists && errno == ENOENT;
	is_kept = exists && S_ISREG(other.st_mode) && other.st_size;
	file->fd = is_kept ? open_beside(file)
			   : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (file->fd >= 0 && check_room(file) == 0)
		return 0;
	error_errno(err, errno, "can't write to %s", path);
	remove_new(file);
	if (file->fd >= 0)
		close(file->fd);
	free_paths(file);
	return -1;
}

int recording_file_begin(struct recording_file *file, struct error *err)
{
	if (file->temporary && rename(file->path, file->old) < 0)
		return error_errno(err, errno, "can't rename %s to %s", file->path,
				   file->old);
	if (file->temporary && rename(file->temporary, file->path) < 0) {
		error_errno(err, errno, "can't write to %s", file->path);
		rename(file->old, file->path);
		return -1;
	}
	free(file->temporary);
	file->temporary = NULL;
	file->is_new = false;
	return 0;
}

const char *recording_file_name(const struct recording_file *file)
{
	return file->path ? file->path : "standard output";
}

int recording_file_close(struct recording_file *file, struct error *err)
{
	int status = 0;

	if (file->path) {
		remove_new(file);
		if (close(file->fd) < 0)
			status = error_errno(err, errno, "can't write to %s", file->path);
	}
	free_paths(file);
	return status;
}
