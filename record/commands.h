/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_COMMANDS_H
#define UNIPROF_RECORD_COMMANDS_H

#include "command/command.h"

/* The commands that need Xen. */
extern const struct command command_record;
extern const struct command command_list;
extern const struct command command_stack;

#endif
