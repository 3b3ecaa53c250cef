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
	int pipe;    /* written to when the recording is complete; -1: none */
	pid_t child; /* 0: none */
};

/*
 * Starts the process, before anything is opened that it should not inherit; it waits.
 * @options must outlive it. Without symbol files, or if the recording goes to standard
 * output, no process is started. -1 with @err set on failure.
 */
int namer_start(struct namer *namer, const struct record_options *options,
		struct error *err);

/* Lets the process store the names if the recording @is_complete, and waits for its end.
 * Makes only system calls that a recorder may make. -1, with a message printed, if names
 * are missing. */
int namer_end(struct namer *namer, bool is_complete);

#endif
