/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SIGNALS_H
#define UNIPROF_RECORD_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/*
 * Blocks the signals that end, stop or continue a recording, or report the end of its
 * guard, also in threads that are started later: signals are only received while waiting,
 * never during a sample. An ignored SIGHUP stays ignored, as set by nohup; an ignored
 * SIGINT or SIGQUIT, as set by shells for background jobs, does not.
 */
void signals_block(sigset_t *signals);

/* Returns the signals that end a recording. */
sigset_t signals_ends(void);

/* How late a signal may be noticed while rounds follow each other without a wait, ns. A
 * shorter stop may not be noticed at all. */
#define SIGNALS_LATE_NS 5000000u

/* Waits until @time (ns, monotonic) or for one of @signals. Returns the signal's number,
 * or 0 if the time is over. */
int signals_wait(const sigset_t *signals, uint64_t time);

#endif
