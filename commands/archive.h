/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_ARCHIVE_H
#define UNIPROF_COMMANDS_ARCHIVE_H

#include <stdbool.h>

#include "report/archive/archive.h"

/* Names for a recording that was just made. */
struct archive_names {
	const char *command;	     /* for messages on standard error */
	struct archive_choice files; /* the recorder's */
	bool lines;		     /* source lines and inlined functions, too */
	bool is_brief;		     /* no message unless it fails */
	bool verbose;
};

/*
 * Does what `uniprof archive` does, in place, with the recording at @path, which is not
 * kept without names, and the files that archive_files_choose() chooses. If it chooses
 * none, or @path is no regular file, nothing is done. Returns an enum exit_code.
 */
int archive_store(const struct archive_names *names, const char *path);

#endif
