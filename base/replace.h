/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_REPLACE_H
#define UNIPROF_BASE_REPLACE_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Writes a file that replaces an old one only once it is complete.
 *
 * Until then the data is in an unnamed file (open(2), O_TMPFILE), so that an error, a
 * full disk or a signal leaves the old file unchanged and no other file behind. The data
 * is copied at the end only if the file system has no O_TMPFILE, or the old file can't
 * be replaced by a new one (its directory is read-only, it has several hard links or
 * another owner). A SIGKILL during replace_commit() can leave a file called
 * .uniprof-PID.N or, during a copy, a truncated old file.
 *
 * Symbolic links are followed. Pipes, devices and open descriptors (/dev/stdout) are
 * written to directly.
 */
struct replace {
	int fd; /* the descriptor to write to; -1: not open */

	/* Internal members */
	const char *path;
	char *target; /* path after all links; NULL: written to directly */
	struct stat old;
	bool exists;	 /* @old is valid */
	bool keep_old;	 /* keep the old file as TARGET.old */
	bool is_unnamed; /* fd is an unnamed file that can be linked */
	bool in_place;	 /* the data is copied to the old file */
	mode_t mode;
};

/*
 * Opens @path for writing; "-" and NULL are standard output. A new file gets the
 * permissions @mode less the umask; a replaced file keeps its permissions and owner. With
 * @keep_old, an old file that is not empty is renamed to TARGET.old at the end. @path
 * must stay valid. On error, returns -1 with @err set and holds no resources.
 */
int replace_open(struct replace *file, const char *path, mode_t mode, bool keep_old,
		 struct error *err);

/*
 * Moves the data written to @file->fd into place and closes it. -1 with @err set; the
 * old file is then unchanged.
 */
int replace_commit(struct replace *file, struct error *err);

/* Closes the file and discards its data, except data written directly. */
void replace_abandon(struct replace *file);

/* Whether writing to @path would change the regular file @input. */
bool replace_changes(const char *path, const struct stat *input);

#endif
