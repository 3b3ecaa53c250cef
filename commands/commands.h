/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_COMMANDS_H
#define UNIPROF_COMMANDS_COMMANDS_H

#include "base/command/command.h"

/* The commands of uniprof, for main()'s table: NAME.c defines `uniprof NAME`. */
extern const struct command command_archive;
extern const struct command command_diff;
extern const struct command command_flamegraph;
extern const struct command command_import;
extern const struct command command_info;
extern const struct command command_list;
extern const struct command command_record;
extern const struct command command_report;
extern const struct command command_stack;
extern const struct command command_table;
extern const struct command command_top;

#endif
