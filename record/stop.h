/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_STOP_H
#define UNIPROF_RECORD_STOP_H

#include <stddef.h>

#include "record/domains/subject.h"

/* What Ctrl-Z and fg do, with the domains that are sampled, of which none is paused. */

/*
 * For SIGTSTP: this process stops until SIGCONT, once nothing of it would hold up a guest
 * meanwhile. If SIGINT, SIGTERM or SIGHUP, which are blocked, comes before that, it does
 * not stop, and the signal is pending. Returns for how long there were no samples, in ns;
 * 0: it did not stop.
 */
uint64_t stop_here(struct subject *const *subjects, size_t count);

/* For SIGCONT, after a stop by whomever: what the guests did meanwhile is not part of
 * their next samples, and no round of that time is missed. */
void stop_ended(struct subject *const *subjects, size_t count);

#endif
