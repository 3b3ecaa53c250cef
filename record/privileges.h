/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_PRIVILEGES_H
#define UNIPROF_RECORD_PRIVILEGES_H

#include <stdbool.h>

/*
 * A recorder reads what guests wrote, as root, in dom0. Once all is open, it gives
 * away what it does not need for going on, so that a guest that should find a fault
 * in it wins less. What it can't give away is the open interface to Xen: who may
 * pause one guest may do all to all of them, as Xen knows no smaller right.
 */

/*
 * For good, for this thread and for all threads and processes that it starts: no
 * file can be opened but Xen's devices and what /proc shows, nothing can be
 * executed, and no memory limit applies to what it locks. Before any thread is
 * started. True when the kernel keeps files away (Landlock, from Linux 5.13 on).
 */
bool privileges_confine(void);

/* For good, for the calling thread: drops all capabilities (capabilities(7)), once
 * it has its priority. The user stays, to whom Xen's devices belong: each new guard
 * opens them. */
void privileges_drop(void);

#endif
