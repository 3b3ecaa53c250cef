/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_TOP_COMMAND_H
#define UNIPROF_TOP_COMMAND_H

#include "base/command/command.h"

extern const struct command command_top;

#endif
