/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_COMMANDS_TOP_KEYS_H
#define UNIPROF_COMMANDS_TOP_KEYS_H

#include "commands/top/screen_internal.h"

#define KEYS_SUMMARY "q quit  h help  t tree  v vCPUs  s sort  / filter  f freeze  w save"

/* Does what the key is for. */
void keys_take(struct screen *screen, int key);

/* Writes the list of the keys, from line 1 on. Returns the next line. */
int keys_help(struct screen *screen, void (*put_line)(struct screen *screen, int y,
						      const char *text, int attributes));

/* Frees the copy, if what is shown is frozen. */
void keys_unfreeze(struct screen *screen);

#endif
