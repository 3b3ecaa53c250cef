/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_RECENT_H
#define UNIPROF_COMMANDS_TOP_RECENT_H

#include "commands/top/copy.h"

/*
 * The latest part of a recording that may still be written. It is kept as a recording of
 * its own, in memory, which reports can read like any other file.
 */
struct recent {
	const struct input *input;
	uint64_t length;	/* ns to keep; 0: all */
	uint64_t most;		/* bytes of the copy; RECENT_BYTES until it is changed */
	struct summary summary; /* of all that was read */
	struct copy copy;
	char path[32];		    /* of the copy */
	bool more;		    /* more may follow */
	struct load_visitor copied; /* visitor of the copy */
	struct load_visitor visitor;
	struct load *load;
};

#define RECENT_BYTES (64u << 20)

/* @recent and @input must not be moved; recent_close() must be called either way. -1 with
 * @err set on failure. */
int recent_open(struct recent *recent, const struct input *input, uint64_t length,
		struct error *err);
void recent_close(struct recent *recent);

/* Reads what is there, and drops what is too old. The copy is from @length to @length +
 * 1/8 long, and shorter if it would be larger than @most. Sets @more. */
int recent_more(struct recent *recent, struct error *err);

/* Whether there is something to show. A recorder is waited for. */
bool recent_is_ready(const struct recent *recent);

/* Whether a process may have the file of the recording open for writing: false only if
 * the kernel says that none has. SIGIO must be ignored: it tells of one that is about to.
 */
bool recent_is_written(const struct recent *recent);

/* Writes the recording at @copy, such as that of a struct recent, to the file @path; an
 * existing one is kept as PATH.old. */
int recent_save(const char *copy, const char *path, struct error *err);

#endif
