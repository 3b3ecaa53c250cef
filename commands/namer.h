/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_NAMER_H
#define UNIPROF_COMMANDS_NAMER_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/find/finder.h"
#include "record/options.h"

/*
 * A process that stores names in what a recorder has recorded, which itself may no longer
 * open files by then. It has no interface to the hypervisor, and, when it stores them, no
 * privileges but to read and write files (privileges_keep_files()). Before, it may find
 * the files of guests that start, for the recorder (privileges_keep_finding()).
 */
struct namer {
	struct finder finder; /* its pipes also tell that the recording is complete */
	pid_t child;	      /* 0: none */
};

/*
 * Starts the process, before anything is opened that it should not inherit; it waits.
 * With a rotation, which gets the descriptor that tells of complete files, each file gets
 * its names as soon as it is complete, from a child of the process. If it @finds files,
 * they are added to @found there, and their tables to @found here. It stores the names of
 * @found and of the options' files. @options must outlive it. If there is nothing to do,
 * as without symbol files, or if the recording goes to standard output, no process is
 * started. -1 with @err set on failure.
 */
int namer_start(struct namer *namer, struct record_options *options,
		struct found_files *found, bool finds, struct error *err);

/* Lets the process store the names if the recording @is_complete, and waits for its end.
 * Makes only system calls that a recorder may make. -1, with a message printed, if names
 * are missing. */
int namer_end(struct namer *namer, bool is_complete);

#endif
