/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_SCREEN_H
#define UNIPROF_COMMANDS_TOP_SCREEN_H

#include "commands/top/top.h"

/* Shows the tables on the terminal until the user ends it, or a signal. -1 with @err set
 * on failure. The terminal is restored either way. */
int screen_run(struct top *top, struct error *err);

#endif
