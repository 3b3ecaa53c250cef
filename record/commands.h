/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_COMMANDS_H
#define UNIPROF_RECORD_COMMANDS_H

/* The commands that need Xen. argv[0] is the command's name; the result is an
 * enum exit_code. */
int command_record(int argc, char **argv);
int command_list(int argc, char **argv);
int command_stack(int argc, char **argv);

#endif
