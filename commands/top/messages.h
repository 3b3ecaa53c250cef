/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_MESSAGES_H
#define UNIPROF_COMMANDS_TOP_MESSAGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Keeps what this process and its children write to standard error, which would destroy
 * what is on the terminal.
 */
struct messages {
	int fd;	     /* of the messages; -1: not kept */
	int stderr_; /* the old standard error */
	off_t seen;
};

/* -1 with @err set on failure. */
int messages_keep(struct messages *messages, struct error *err);

/* Sets @line to the last whole line written since the last call; false if there is none.
 */
bool messages_last(struct messages *messages, struct error *line);

/* Restores standard error, and writes to it what was kept. */
void messages_end(struct messages *messages);

#endif
