/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_STOP_H
#define UNIPROF_RECORD_STOP_H

#include <stddef.h>

#include "record/domains/subject.h"

/* What Ctrl-Z and fg do to a recorder. None of its domains may be paused. */

/*
 * Handles SIGTSTP: stops this process until SIGCONT, once nothing that it has left in a
 * guest would hold up the guest meanwhile. If SIGINT, SIGTERM or SIGHUP, which are
 * blocked, comes before that, it does not stop, and the signal is pending. Returns for
 * how long there were no samples, in ns; 0: it did not stop.
 */
uint64_t stop_here(struct subject *const *subjects, size_t count);

/* Handles SIGCONT, whoever stopped this process: what the guests did meanwhile is not
 * part of their next samples, and no round of that time counts as missed. */
void stop_ended(struct subject *const *subjects, size_t count);

#endif
