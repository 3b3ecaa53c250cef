/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_ELF_DEBUGINFOD_H
#define UNIPROF_SYMBOLS_ELF_DEBUGINFOD_H

#include "base/error.h"

/*
 * Asks the servers in $DEBUGINFOD_URLS for the debug file of the build-id, in
 * hexadecimal, by the program debuginfod-find of elfutils, which keeps files in a cache.
 * Returns the file's path, which the caller frees; what is in the file must be checked.
 * NULL with @why set if there is none. Takes as long as the program's time limits
 * ($DEBUGINFOD_TIMEOUT).
 */
char *debuginfod_find(const char *build_id, struct error *why);

/* Returns the end of a message on a missing debug file: how to ask the servers, if
 * $DEBUGINFOD_URLS names some; else "". */
const char *debuginfod_hint(void);

#endif
