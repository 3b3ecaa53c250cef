/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_MESSAGES_H
#define UNIPROF_COMMANDS_TOP_MESSAGES_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"
#include "commands/top/line.h"

/*
 * Messages that this process and its children write to standard error while the screen is
 * shown, which it would garble.
 */
struct messages {
	int fd;		   /* a file in memory; -1: messages are not kept */
	int stderr_before; /* duplicate of the standard error that is restored */
	off_t seen;	   /* bytes that messages_last() has seen */
};

/* Keeps messages from now on. -1 with @err set on failure; messages_end() must be called
 * either way. */
int messages_keep(struct messages *messages, struct error *err);

/* Sets @line to the last whole line since the previous call. False, and @line is
 * unchanged, if there is none. */
bool messages_last(struct messages *messages, struct line *line);

/* Restores standard error, and writes the messages to it. */
void messages_end(struct messages *messages);

#endif
