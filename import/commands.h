/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_COMMANDS_H
#define UNIPROF_IMPORT_COMMANDS_H

/* Takes the words after "uniprof", its own name first; returns an enum exit_code. */
int command_import(int argc, char **argv);

#endif
