/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_RECORD_PRIORITY_H
#define UNIPROF_RECORD_PRIORITY_H

/*
 * On a busy host, a recorder that is put off in the middle of a sample prolongs
 * the guest's pause, and one whose writer is put off holds back its file. Both
 * threads sleep most of the time, so they can go before others.
 */
enum priority {
	PRIORITY_USUAL = 0,
	PRIORITY_WRITER = 1,
	PRIORITY_SAMPLER = 2,
};

/* Sets the calling thread's priority (SCHED_FIFO, sched(7)), where it may; it
 * works without, too. Threads and processes that it starts don't inherit it. */
void priority_set(enum priority priority);

#endif
