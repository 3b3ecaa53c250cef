/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_STOP_H
#define UNIPROF_RECORD_STOP_H

#include <stdbool.h>
#include <stddef.h>

#include "record/domains/subject.h"

/* Stopping and continuing a recorder (Ctrl-Z and fg). None of its domains may be
 * paused. */

/* Takes back what was left in guests and could delay them; false if a thread has yet to
 * stop before it can be let go. */
bool stop_rest(struct subject *const *subjects, size_t count);

/*
 * Handles SIGTSTP: stops this process until SIGCONT, once nothing that it left in a guest
 * can delay the guest meanwhile. If one of the blocked signals SIGINT, SIGQUIT, SIGTERM
 * and SIGHUP comes before the stop, the process does not stop, and the signal stays
 * pending. Returns the time without samples, ns; 0 if the process did not stop.
 */
uint64_t stop_here(struct subject *const *subjects, size_t count);

/* Continues after a time without samples, such as after SIGCONT: the CPU time that guests
 * used meanwhile is not in their next samples, and no round of that time counts as
 * missed. */
void stop_ended(struct subject *const *subjects, size_t count);

#endif
