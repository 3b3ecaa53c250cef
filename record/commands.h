/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_COMMANDS_H
#define UNIPROF_RECORD_COMMANDS_H

#include "base/command/command.h"

/* The commands that need Xen, but record: naming/command.h. */
extern const struct command command_list;
extern const struct command command_stack;

#endif
