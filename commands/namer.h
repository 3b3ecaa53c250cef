/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_NAMER_H
#define UNIPROF_COMMANDS_NAMER_H

#include <stdbool.h>
#include <sys/types.h>

#include "record/options.h"

/*
 * A process that stores names in what a recorder has recorded, which itself may no longer
 * open files by then. It has no interface to the hypervisor, and no privileges but to
 * read and write files (privileges_keep_files()).
 */
struct namer {
	int pipe;
	pid_t child;
};

/*
 * Starts it, before anything is opened that it should not inherit; it waits. @options
 * must outlive it. Without symbol files, or if the recording goes to standard output,
 * nothing is started. -1 with @err set on failure.
 */
int namer_start(struct namer *namer, const struct record_options *options,
		struct error *err);

/* If the recording @is_complete, lets it store the names, and waits for its end; needs
 * only the system calls of a recorder. -1 if that failed, with a message written. */
int namer_end(struct namer *namer, bool is_complete);

#endif
