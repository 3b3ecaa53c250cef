/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TABLES_COMMAND_H
#define UNIPROF_TABLES_COMMAND_H

#include "base/command/command.h"

/* Makes an unwind table of ELF files, for `uniprof record --table`. */
extern const struct command command_table;

#endif
