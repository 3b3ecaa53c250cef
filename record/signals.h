/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SIGNALS_H
#define UNIPROF_RECORD_SIGNALS_H

#include <signal.h>
#include <stdint.h>

/*
 * The signals that end a recording, or tell of its guards, come only where they
 * are waited for: never within a sample. Blocks them, for the threads that are
 * started later as well. What the parent process chose to be ignored stays so,
 * as nohup does with SIGHUP; a shell's SIGINT of a background job does not.
 */
void signals_block(sigset_t *signals);

/* Waits until @time (ns, monotonic), or for one of @signals: its number then,
 * else 0. */
int signals_wait(const sigset_t *signals, uint64_t time);

#endif
