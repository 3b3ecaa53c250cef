/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_FILE_OPENER_H
#define UNIPROF_RECORD_FILE_OPENER_H

#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * A process that creates the files PATH.1, PATH.2 and so on for a recorder that may no
 * longer create files itself. All it accepts is the request for the next one.
 */
struct opener {
	int socket;
	pid_t child;
};

/*
 * Starts it, before anything is opened that it should not inherit. Numbers continue after
 * the highest that exists. With @keep, each new file is the last of so many: those with
 * lower numbers are removed, also those of earlier recordings. -1 with @err set.
 */
int opener_start(struct opener *opener, const char *path, uint64_t keep,
		 struct error *err);

/* The highest number of the files PATH.1, PATH.2 and so on that exist; 0: none does. */
uint64_t opener_highest(const char *path);

/* Creates the next file: its descriptor, and its @number. -1 with @err set. */
int opener_next(struct opener *opener, uint64_t *number, struct error *err);

/* Ends the process. May be called on an @opener that is all 0. */
void opener_stop(struct opener *opener);

#endif
