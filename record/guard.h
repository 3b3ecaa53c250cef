/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_GUARD_H
#define UNIPROF_RECORD_GUARD_H

#include <stdbool.h>

#include "base/error.h"
#include "xen/capture.h"

/*
 * A child process that outlives this one and, when this one ends in any way at
 * all while the domain is paused by it, lets the domain run again. When this one
 * is stopped (SIGSTOP) at such a moment, the child has it finish the sample first.
 */
struct guard;

/* Begins to guard; to be called before the first capture_pause() and while the
 * process has a single thread. NULL, and why in @err, on failure. */
struct guard *guard_start(struct capture *capture, struct error *err);

/* Whether the child is still there. Without it, nothing may be paused. */
bool guard_alive(struct guard *guard);

/* Ends the child, when nothing is paused any more. */
void guard_stop(struct guard *guard);

#endif
