/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SIGNALS_H
#define UNIPROF_RECORD_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
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

/* Lets the @signals have this effect, SIG_DFL or SIG_IGN. Until signals_block(), signals
 * that end a recording need SIG_DFL: a shell's background job would lose a SIGINT. */
void signals_set(const sigset_t *signals, void (*effect)(int));

/* How late a signal may be noticed while rounds follow each other without a wait, ns. A
 * shorter stop may not be noticed at all. */
#define SIGNALS_LATE_NS 5000000u

/* Longest wait that is not slept, ns */
#define SIGNALS_SPIN_NS 100000u

/* What earlier waits have shown; all 0 at first. */
struct signals_waits {
	uint64_t asked; /* when signals were last asked for, ns, monotonic */
	uint64_t late;	/* average time by which sleeps ended too late, ns */
};

/*
 * Waits until @time (ns, monotonic) or for one of @signals. Returns the signal's number,
 * or 0 if the time is over. If signals were asked for just now, a wait that is over needs
 * no system call, and one that is so short that a sleep would end too late is spent
 * reading the clock: Xen's timers alone may be 50 us late (its option timer_slop).
 */
int signals_wait(struct signals_waits *waits, const sigset_t *signals, uint64_t time);

/* Returns whether a wait of @left ns is too short to be slept. */
bool signals_spins(const struct signals_waits *waits, uint64_t left);

/* Notes that a sleep ended @late ns too late. */
void signals_note_late(struct signals_waits *waits, uint64_t late);

#endif
