/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_RECENT_H
#define UNIPROF_COMMANDS_TOP_RECENT_H

#include "commands/top/copy.h"

#define RECENT_BYTES	 (64u << 20)
#define RECENT_PATH_SIZE 32

/*
 * The latest part of a recording that may still be written. It is kept as a recording of
 * its own, in memory, which reports can read like any other file.
 */
struct recent {
	const struct input *input; /* the recording */
	uint64_t length;	   /* time to keep, ns; 0: all */
	uint64_t most; /* limit of the copy's size, bytes (default: RECENT_BYTES) */
	struct summary summary; /* sums of the recording, as far as it was read */
	struct copy copy;
	char path[RECENT_PATH_SIZE]; /* path of the copy */
	bool more;		     /* more may follow */
	struct load_visitor copied;  /* writes to the copy */
	struct load_visitor visitor; /* calls @copied, and drops old samples */
	struct load *load;
};

/* A duplicate of a struct recent's copy that no longer changes. */
struct snapshot {
	int fd; /* -1: none */
	char path[RECENT_PATH_SIZE];
};

/* @recent and @input must not be moved; recent_close() must be called either way. -1 with
 * @err set on failure. */
int recent_open(struct recent *recent, const struct input *input, uint64_t length,
		struct error *err);
void recent_close(struct recent *recent);

/* Reads the samples that are there, and drops samples that are too old. The copy covers
 * between @length and 9/8 of @length, and less if it would be larger than @most. Sets
 * @more. */
int recent_more(struct recent *recent, struct error *err);

/* Whether there is something to show: the start of the recording and, if it comes through
 * a pipe, a domain, a sample or the end. */
bool recent_is_ready(const struct recent *recent);

/* Whether a process may have the file of the recording open for writing: false only if
 * the kernel says that none has. SIGIO must be ignored: the kernel sends it when a
 * process is about to open the file. */
bool recent_is_written(const struct recent *recent);

/* Copies the copy of @recent. -1 with @err set on failure. */
int snapshot_take(struct snapshot *snapshot, const struct recent *recent,
		  struct error *err);
void snapshot_close(struct snapshot *snapshot);

/* Writes the recording at @copy, the path of a struct recent or a snapshot, to the file
 * @path; an existing file is kept as PATH.old. -1 with @err set on failure. */
int recent_save(const char *copy, const char *path, struct error *err);

#endif
