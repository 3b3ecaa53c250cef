/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_IMPORT_COMMANDS_H
#define UNIPROF_IMPORT_COMMANDS_H

#include "base/command/command.h"

extern const struct command command_import;

#endif
