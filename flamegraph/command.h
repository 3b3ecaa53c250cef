/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_FLAMEGRAPH_COMMAND_H
#define UNIPROF_FLAMEGRAPH_COMMAND_H

#include "base/command/command.h"

extern const struct command command_flamegraph;

#endif
