/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_FEED_H
#define UNIPROF_COMMANDS_TOP_FEED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * A recorder, `uniprof record`, in a process of its own with all that makes it safe. It
 * ends when this process does. It writes to a pipe; if nobody reads it, samples are lost,
 * and the guests are not held up.
 */
struct live {
	pid_t recorder; /* 0: none */
	int pipe;	/* to read from; -1: none */
	bool is_asked;	/* to end */
	/* After live_stop(): its exit code, and the signal that killed it, if not 0.
	 * Where SIGTERM did because it was asked so early, both are 0. */
	int status, killed;
};

/* Starts it with the command line @argv of `uniprof record`. Must be called before
 * threads are started. -1 with @err set on failure. */
int live_start(struct live *live, int argc, char **argv, struct error *err);

/* Asks it to end; what is left in the pipe can still be read. */
void live_end(struct live *live);

/* Waits for its end. Nothing more can be read. */
void live_stop(struct live *live);

#endif
