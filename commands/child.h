/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_CHILD_H
#define UNIPROF_COMMANDS_CHILD_H

#include <signal.h>
#include <stdbool.h>

#include "base/command/command.h"

/*
 * Steps of a command that run in processes of their own: a recorder drops all privileges
 * for good, and a report limits its memory.
 *
 * Between children_hold() and children_release(), signals that would end this process are
 * received only while a child runs: they end the child, and this process goes on with the
 * steps that must follow, such as destroying a guest.
 */
struct children {
	const char *command; /* name of the command, for messages */
	sigset_t signals;    /* signals that are held */
	sigset_t before;     /* signal mask of children, and after children_release() */
	bool interrupted;    /* a signal that ends processes was received */
};

/* Holds signals; @children->command is set. */
void children_hold(struct children *children);

/* Ends this process if a signal arrived while no child was running. */
void children_release(const struct children *children);

/*
 * Runs the command in a child, with standard error discarded if @is_quiet. Returns the
 * exit code; EXIT_FAILED, with a message, if the child was killed or could not be
 * started. A signal that would end this process, SIGKILL included, ends the child.
 */
int child_command(struct children *children, const struct command *command, char **argv,
		  bool is_quiet);

/* The exit code of a program that could not be run, as of shells. */
#define CHILD_NOT_RUN 127

/*
 * Runs the program @argv[0], found in $PATH, to its end: signals for this process do not
 * interrupt it. It has no standard input; its output goes to standard error, or is
 * discarded if @is_quiet. Returns the exit code of the program, CHILD_NOT_RUN if it could
 * not be run.
 */
int child_program(struct children *children, char *const *argv, bool is_quiet);

#endif
