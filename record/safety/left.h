/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAFETY_LEFT_H
#define UNIPROF_RECORD_SAFETY_LEFT_H

#include "guest/host.h"

/*
 * Reports, on standard error, guests that were left paused because a recorder and its
 * guard were killed at once, and how to resume them. With @unpause, ends that one pause
 * of the guests among the @count @names (names or ids; NULL: all). Must be called before
 * the guard is started. 0, or -1 with the reason in @err.
 */
int left_report(struct host *host, bool unpause, char **names, size_t count,
		struct error *err);

#endif
