/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_SAFETY_GUARD_H
#define UNIPROF_RECORD_SAFETY_GUARD_H

#include <stdbool.h>

#include "base/error.h"
#include "guest/host.h"
#include "record/notify.h"

/* Maximum time of a pause, ns. */
#define PAUSE_LIMIT 1000000000ull

/*
 * A child process that outlives this one. If this process ends in any way while it holds
 * a guest paused, the child resumes the guest. If this process is stopped (SIGSTOP) at
 * such a moment, the child lets it finish the sample first. If a pause has not ended
 * after PAUSE_LIMIT, for whatever reason, the child kills this process. One child guards
 * all guests of a host, including guests that start later.
 */
struct guard;

/*
 * Starts the guard; must be called before the first guest is opened, while the process
 * has a single thread, by the thread that will sample. From here on, the process dumps no
 * core: a guest would stay paused during the dump. The child calls @to, unless it is
 * NULL, when it kills this process. NULL with the reason in @err on failure.
 */
struct guard *guard_start(struct host *host, notify_function *to, struct error *err);

/* Returns whether the child still exists. Without it, nothing may be paused. */
bool guard_alive(struct guard *guard);

/* Returns whether the child is not stopped and does not hang: it has looked at this
 * process within the last half second. */
bool guard_watches(const struct guard *guard);

/* Ends the child, once nothing is paused; must be called by the thread that started it.
 * A child that is stopped is left to end when it continues. @guard may be NULL. */
void guard_stop(struct guard *guard);

#endif
