/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_REPORT_NOTES_H
#define UNIPROF_COMMANDS_REPORT_NOTES_H

#include "report/model/notes/notes.h"

/* Prints the notes that were added since the last call to standard error. @about, which
 * can be NULL, is what hints and warnings are about, as their prefix. */
void notes_print(struct notes *notes, const char *command, const char *about);

#endif
