/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_RECORDING_FILE_H
#define UNIPROF_RECORD_FILE_RECORDING_FILE_H

#include <stdbool.h>

#include "base/error.h"

/* The file that a recording is written to. */
struct recording_file {
	const char *path; /* NULL: standard output */
	int fd;

	/* Internal members, until recording_file_begin() */
	char *old; /* path to rename the existing recording to; NULL: there is none */
	char *temporary; /* the file's path until recording_file_begin(); NULL: @path */
	bool is_new;	 /* no file was at @path */
};

/*
 * Opens @path, "-" for standard output. An existing recording keeps its name until
 * recording_file_begin(); the target of a symbolic link, which may be a device, is opened
 * as it is. -1 on failure or if the disk is full; existing files are then unchanged.
 * @path must outlive @file.
 */
int recording_file_open(struct recording_file *file, const char *path, struct error *err);

/* Gives the file its name and, like perf, renames an existing recording to PATH.old. -1
 * on failure; existing files then keep their names. */
int recording_file_begin(struct recording_file *file, struct error *err);

/* Returns the file's name for messages: its path, or "standard output". */
const char *recording_file_name(const struct recording_file *file);

/* Closes the file: 0, or -1 if written data did not reach it. A new file is removed if
 * recording_file_begin() was not called. May be called on a @file that was not opened
 * and is all 0. */
int recording_file_close(struct recording_file *file, struct error *err);

#endif
