/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_OPENER_H
#define UNIPROF_RECORD_FILE_OPENER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* A process that creates the files PATH.1, PATH.2 and so on for a recorder that may no
 * longer create files itself. It only accepts requests for the next file. */
struct opener {
	int socket; /* connected to the process */
	pid_t child;
};

/*
 * Starts the process, before anything is opened that it should not inherit. Numbers
 * continue after the highest that exists. Unless @keep is 0, with each new file the
 * process removes all but the @keep files with the highest numbers, whichever recording
 * they belong to. -1 with @err set on failure.
 */
int opener_start(struct opener *opener, const char *path, uint64_t keep,
		 struct error *err);

/* Returns the highest number of the files PATH.1, PATH.2 and so on; 0 if there are
 * none. */
uint64_t opener_highest(const char *path);

/* Creates the next file, and returns its descriptor and its @number; -1 with @err set on
 * failure. */
int opener_next(struct opener *opener, uint64_t *number, struct error *err);

/* Ends the process. May be called on an @opener that is all 0. */
void opener_stop(struct opener *opener);

#endif
