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
 * While steps are held, signals that would end this process are received only by
 * child_wait(): they end a step, and this process goes on with those that must follow.
 */
struct children {
	sigset_t signals; /* that are held */
	sigset_t before;  /* the mask for children, and for afterwards */
	bool interrupted; /* one that ends processes was received */
};

void children_hold(struct children *children);
/* A signal that came while no step was waited for ends the process here. */
void children_release(const struct children *children);

/*
 * Runs `uniprof ARGV...` in a child, with standard error discarded if @is_quiet: its exit
 * code, EXIT_FAILED with a message if it was killed. A signal for this process ends it;
 * SIGKILL does, too.
 */
int child_command(struct children *children, const struct command *command, char **argv,
		  bool is_quiet);

/*
 * Runs the program argv[0], found in $PATH, to its end: no signal for this process
 * interrupts it. It has no standard input, and its output goes to standard error
 * unless @is_quiet. Returns its exit code, 127 if it could not be run.
 */
int child_program(struct children *children, char *const *argv, bool is_quiet);

#endif
