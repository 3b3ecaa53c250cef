/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_FEED_H
#define UNIPROF_COMMANDS_TOP_FEED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/clock.h"
#include "commands/top/options.h"
#include "commands/top/recent.h"

/*
 * `uniprof record` in a process of its own, with all that makes it safe. It ends when
 * this process does. It writes to a pipe; if nobody reads the pipe, samples are lost, and
 * the guests are not held up.
 */
struct recorder {
	pid_t pid; /* 0: none */
	/* Set at its end. Both are 0 if SIGTERM killed it because it was asked to end
	 * before it could handle the signal. */
	int status; /* exit code; EXIT_FAILED if it was killed */
	int killed; /* signal that killed it; 0: none */
};

/* Where samples come from: a recorder, or a recording that may still be written. */
struct feed {
	bool is_recording;
	struct recorder recorder;
	struct input input;   /* the recording, or the recorder's pipe */
	struct recent recent; /* latest part of the samples read */
};

/* A feed that was not opened, which may be closed. */
#define FEED_CLOSED ((struct feed){.input.fd = -1, .recent.copy.fd = -1})

/* How often to look at a recording that another process writes, ns. */
#define FEED_LOOK_NS (NS_PER_S / 10)

/* Opens the recording, or starts a recorder of the domains; no thread may be running.
 * @feed must not be moved, and feed_close() must be called either way. -1 with @err
 * set on failure. */
int feed_open(struct feed *feed, const struct top_options *options, struct error *err);

/* The descriptor to poll for more samples; -1 for a file, which must be looked at every
 * FEED_LOOK_NS, and if no more can follow. */
int feed_descriptor(const struct feed *feed);

/* Reads until @deadline (ns, monotonic), or until nothing more can follow. -1 with @err
 * set on failure. */
int feed_read_until(struct feed *feed, uint64_t deadline, struct error *err);

/* Ends the recorder, if there is one, and reads its last samples. Nothing more can be
 * read. */
void feed_end(struct feed *feed);

void feed_close(struct feed *feed);

#endif
