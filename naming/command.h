/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_NAMING_COMMAND_H
#define UNIPROF_NAMING_COMMAND_H

#include "base/command/command.h"

/* Records, and stores names in the recording if there are symbol files. */
extern const struct command command_record;

#endif
