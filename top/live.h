/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TOP_LIVE_H
#define UNIPROF_TOP_LIVE_H

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
	int status;	/* exit code, after live_stop(); */
	int killed;	/* the signal that killed it, if it is not 0 */
};

/* Starts it with the command line @argv of `uniprof record`. Must be called before
 * threads are started. -1 with @err set on failure. */
int live_start(struct live *live, int argc, char **argv, struct error *err);

/* Asks it to end; what is left in the pipe can still be read. */
void live_end(const struct live *live);

/* Waits for its end. Nothing more can be read. */
void live_stop(struct live *live);

#endif
