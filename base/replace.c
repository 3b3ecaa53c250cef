/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/compat.h"

#define MAX_LINKS 40  /* symbolic links followed in a row, as in Linux */
#define MAX_NAMES 100 /* temporary names to try */

static bool is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* Returns the directory of @path, which the caller frees; NULL if out of memory. */
static char *directory_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return strdup(".");
	return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

/* Returns the descriptor that @path is a link to, if it is below /proc and this
 * process's; else -1. */
static int descriptor_of(const char *path)
{
	const char *name = strrchr(path, '/');
	char *directory = directory_of(path), *end = NULL;
	struct stat here, own;
	long number = -1;

	if (directory && name && stat(directory, &here) == 0 &&
	    stat("/proc/self/fd", &own) == 0 && here.st_dev == own.st_dev &&
	    here.st_ino == own.st_ino)
		number = strtol(name + 1, &end, 10);
	free(directory);
	return end && !*end && number >= 0 && number <= INT_MAX ? (int)number : -1;
}

/* Returns the target of the symbolic link @path, which the caller frees; NULL with errno
 * set. */
static char *follow_link(const char *path)
{
	char to[PATH_MAX], *directory, *target;
	ssize_t length = readlink(path, to, sizeof(to) - 1);

	if (length < 0)
		return NULL;
	to[length] = 0;
	if (*to == '/')
		return strdup(to);
	directory = directory_of(path);
	if (!directory || asprintf(&target, "%s/%s", directory, to) < 0)
		target = NULL;
	free(directory);
	return target;
}

/* Follows all symbolic links to regular files. Sets file->target, and file->old if the
 * target exists; or *@descriptor if the path leads to a descriptor. -1 with errno set. */
static int resolve_links(struct replace *file, const char *path, int *descriptor)
{
	char *next;

	file->target = strdup(path);
	for (int links = 0; file->target; links++) {
		if (lstat(file->target, &file->old) < 0)
			return errno == ENOENT && *path ? 0 : -1;
		file->exists = true;
		if (!S_ISLNK(file->old.st_mode))
			return 0;
		*descriptor = descriptor_of(file->target);
		if (*descriptor >= 0)
			return 0;
		if (stat(file->target, &file->old) == 0 && !S_ISREG(file->old.st_mode))
			return 0;
		file->exists = false;
		errno = ELOOP;
		next = links < MAX_LINKS ? follow_link(file->target) : NULL;
		free(file->target);
		file->target = next;
	}
	return -1;
}

/* Opens anything but a regular file, to be written to directly. */
static int open_directly(struct replace *file, int descriptor)
{
	file->fd = descriptor >= 0 ? fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
				   : open(file->target, O_WRONLY | O_CLOEXEC);
	free(file->target);
	file->target = NULL;
	return file->fd < 0 ? -1 : 0;
}

/*
 * Links the file @unnamed, or creates a new file if that is -1, under a temporary name
 * next to the target. Returns the new file's descriptor, or 0; -1 with errno set. The
 * caller frees *@name.
 */
static int name_beside(const struct replace *file, int unnamed, char **name)
{
	char *directory = directory_of(file->target), link[32];
	int status = -1, why = directory ? EEXIST : ENOMEM;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", unnamed);
	*name = NULL;
	for (int i = 0; status < 0 && why == EEXIST && i < MAX_NAMES; i++) {
		free(*name);
		if (asprintf(name, "%s/.uniprof-%d.%d", directory, getpid(), i) < 0) {
			*name = NULL;
			why = ENOMEM;
			break;
		}
		status = unnamed < 0 ? open(*name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
					    file->mode)
				     : linkat(AT_FDCWD, link, AT_FDCWD, *name,
					      AT_SYMLINK_FOLLOW);
		why = errno;
	}
	free(directory);
	if (status < 0) {
		free(*name);
		*name = NULL;
	}
	errno = why;
	return status;
}

/* Creates an unnamed file in the target's directory: one that can be linked later, if
 * possible. */
static int create_unnamed(struct replace *file)
{
	char *name = directory_of(file->target);
	int fd = -1;

	if (name)
		fd = open(name, O_TMPFILE | O_RDWR | O_CLOEXEC, file->mode);
	free(name);
	file->is_unnamed = fd >= 0;
	if (fd >= 0)
		return fd;
	fd = name_beside(file, -1, &name);
	if (fd >= 0)
		unlink(name);
	free(name);
	return fd;
}

/* Copies the old file's owner and permissions to the new one. */
static int take_rights(const struct replace *file, int fd)
{
	struct stat now;

	if (!file->exists)
		return 0;
	if (fstat(fd, &now) < 0)
		return -1;
	if ((now.st_uid != file->old.st_uid || now.st_gid != file->old.st_gid) &&
	    fchown(fd, file->old.st_uid, file->old.st_gid) < 0)
		return -1;
	return fchmod(fd, file->old.st_mode & 07777);
}

static int open_temporary(struct replace *file)
{
	FILE *temporary = tmpfile();

	if (!temporary)
		return -1;
	file->in_place = true;
	file->is_unnamed = false;
	file->fd = fcntl(fileno(temporary), F_DUPFD_CLOEXEC, 0);
	fclose(temporary);
	return file->fd < 0 ? -1 : 0;
}

/* Opens the file that will replace a regular file, or become a new one. */
static int open_regular(struct replace *file)
{
	int old;

	if (file->exists) {
		old = open(file->target, O_WRONLY | O_CLOEXEC);
		if (old < 0)
			return -1;
		close(old);
	}
	if (file->exists && file->old.st_nlink > 1 && !file->keep_old)
		return open_temporary(file);
	file->fd = create_unnamed(file);
	if (file->fd >= 0 && take_rights(file, file->fd) == 0)
		return 0;
	if (!file->exists || file->keep_old)
		return -1;
	replace_abandon(&(struct replace){.fd = file->fd});
	file->fd = -1;
	return open_temporary(file);
}

int replace_open(struct replace *file, const char *path, mode_t mode, bool keep_old,
		 struct error *err)
{
	int descriptor = -1, status;

	*file = (struct replace){
		.fd = -1, .path = path, .mode = mode, .keep_old = keep_old};
	if (is_stdout(path)) {
		file->fd = STDOUT_FILENO;
		return 0;
	}
	status = resolve_links(file, path, &descriptor);
	if (status == 0 && file->exists && S_ISDIR(file->old.st_mode)) {
		errno = EISDIR;
		status = -1;
	}
	if (status == 0)
		status = descriptor >= 0 || (file->exists && !S_ISREG(file->old.st_mode))
				 ? open_directly(file, descriptor)
				 : open_regular(file);
	if (status == 0)
		return 0;
	error_errno(err, errno, "can't write %s", path);
	replace_abandon(file);
	return -1;
}

/* Copies the contents of @from to the start of @to. */
static int copy_contents(int from, int to)
{
	char buffer[65536];
	off_t at = 0;
	ssize_t size;

	while ((size = pread(from, buffer, sizeof(buffer), at)) != 0) {
		if (size < 0 && errno == EINTR)
			continue;
		if (size < 0)
			return -1;
		for (ssize_t done = 0, part; done < size; done += part) {
			part = pwrite(to, buffer + done, (size_t)(size - done),
				      at + done);
			if (part < 0 && errno != EINTR)
				return -1;
			part = part < 0 ? 0 : part;
		}
		at += size;
	}
	return 0;
}

/* Copies the new contents to the old file, after reserving the space. */
static int copy_in_place(struct replace *file)
{
	int to = open(file->target, O_WRONLY | O_CLOEXEC), status = -1, why;
	off_t size = lseek(file->fd, 0, SEEK_END);
	struct stat old;

	if (to < 0)
		return -1;
	if (size >= 0 && fstat(to, &old) == 0) {
		why = size > old.st_size
			      ? posix_fallocate(to, old.st_size, size - old.st_size)
			      : 0;
		if (!why)
			status = copy_contents(file->fd, to) < 0 ? -1
								 : ftruncate(to, size);
		else if (ftruncate(to, old.st_size) == 0)
			errno = why;
	}
	why = errno;
	if (close(to) < 0 && status == 0)
		return -1;
	errno = why;
	return status;
}

/* Gives the complete file a name next to the target; the caller frees *@name. */
static int complete_beside(struct replace *file, char **name)
{
	int fd, status, why;

	if (file->is_unnamed && name_beside(file, file->fd, name) == 0)
		return 0;
	/* No O_TMPFILE on this file system, or no /proc to link the file through. */
	fd = name_beside(file, -1, name);
	if (fd < 0)
		return -1;
	status = copy_contents(file->fd, fd);
	if (status == 0)
		status = take_rights(file, fd);
	why = errno;
	if (close(fd) < 0 && status == 0) {
		status = -1;
		why = errno;
	}
	if (status < 0) {
		unlink(*name);
		free(*name);
	}
	errno = why;
	return status;
}

/* Renames the new file to the target; if the old one is kept, renames it first. */
static int rename_into_place(struct replace *file, const char *name)
{
	char *old = NULL;
	int status, why;

	if (file->keep_old && file->exists && file->old.st_size) {
		if (asprintf(&old, "%s.old", file->target) < 0) {
			errno = ENOMEM;
			return -1;
		}
		if (rename(file->target, old) < 0) {
			free(old);
			return -1;
		}
	}
	status = rename(name, file->target);
	why = errno;
	if (status < 0 && old)
		rename(old, file->target);
	free(old);
	errno = why;
	return status;
}

static int put_in_place(struct replace *file)
{
	char *name;
	int status, why;

	if (file->in_place)
		return copy_in_place(file);
	if (complete_beside(file, &name) < 0)
		return -1;
	status = rename_into_place(file, name);
	why = errno;
	if (status < 0)
		unlink(name);
	free(name);
	errno = why;
	/* A rename fails for another user's file in a directory like /tmp, and for a
	 * mount point. */
	if (status < 0 && file->exists && !file->keep_old)
		return copy_in_place(file);
	return status;
}

int replace_commit(struct replace *file, struct error *err)
{
	sigset_t ends, before;
	int status = 0;

	if (file->target) {
		/* Signals are held back until either the old or the new file is there. */
		sigemptyset(&ends);
		sigaddset(&ends, SIGHUP);
		sigaddset(&ends, SIGINT);
		sigaddset(&ends, SIGQUIT);
		sigaddset(&ends, SIGTERM);
		sigprocmask(SIG_BLOCK, &ends, &before);
		status = put_in_place(file);
		if (status < 0)
			error_errno(err, errno, "can't write %s", file->path);
		sigprocmask(SIG_SETMASK, &before, NULL);
	}
	if (file->fd > STDOUT_FILENO && close(file->fd) < 0 && status == 0)
		status = error_errno(err, errno, "can't write %s", file->path);
	file->fd = -1;
	replace_abandon(file);
	return status;
}

void replace_abandon(struct replace *file)
{
	if (file->fd > STDOUT_FILENO)
		close(file->fd);
	free(file->target);
	*file = (struct replace){.fd = -1};
}

bool replace_changes(const char *path, const struct stat *input)
{
	struct stat target;

	return !is_stdout(path) && stat(path, &target) == 0 && S_ISREG(target.st_mode) &&
	       target.st_dev == input->st_dev && target.st_ino == input->st_ino;
}
