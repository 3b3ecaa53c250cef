/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_SYMBOLS_STARTS_H
#define UNIPROF_SYMBOLS_STARTS_H

#include <stdbool.h>

/* Whether this is the name of a function that nothing calls: where a program, a kernel or
 * a thread starts, in the C libraries, languages and systems that are common in guests.
 */
bool symbols_is_start(const char *name);

#endif
