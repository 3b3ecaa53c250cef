/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_HELP_HELP_H
#define UNIPROF_COMMANDS_HELP_HELP_H

/* What the program has in it to help its users. */

/* Runs `uniprof completions SHELL`: becomes the shell script that prints completions for
 * bash, zsh or fish. Returns an enum exit_code if that fails. */
int completions_run(int argc, char **argv);

/* Shows the manual page of the command, or uniprof's own if it is NULL: on a terminal by
 * the pager. Returns an enum exit_code. */
int man_show(const char *command);

#endif
