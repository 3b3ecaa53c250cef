/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_SCREEN_SCREEN_H
#define UNIPROF_COMMANDS_TOP_SCREEN_SCREEN_H

#include "commands/top/display.h"
#include "commands/top/messages.h"

/* Shows @display on the terminal, and the last of @messages, until the user or a signal
 * ends it. -1 with @err set on failure. The terminal is restored either way. */
int screen_run(struct display *display, struct messages *messages, struct error *err);

#endif
