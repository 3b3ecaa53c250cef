/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_TRACE_H
#define UNIPROF_KVM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Stops threads of other processes with ptrace(2) and lets them go on, for some
 * microseconds. Nothing in them is changed and no signal is sent: a system call that can
 * be interrupted, such as KVM_RUN, returns, and the thread stops on its way out. If this
 * process dies, the kernel detaches it from all of them, and they go on.
 *
 * Signals that stop a thread while it is traced are passed on when it is released.
 */

/* How many threads that did not stop in time are remembered. */
#define TRACE_LATE_MAX 256

struct trace {
	int timer; /* interrupts a wait that takes too long */
	bool has_timer;
	uint64_t deadline; /* ns, monotonic */
	pid_t late[TRACE_LATE_MAX];
	size_t late_count;
};

struct traced {
	pid_t tid;
	enum traced_state {
		TRACED_NOT,
		TRACED_RUNNING, /* attached */
		TRACED_STOPPED,
	} state;
	int signal; /* to pass on */
};

/* To be called by the thread that will trace. 0, or -1 with the reason in @err. */
int trace_init(struct trace *trace, struct error *err);
void trace_free(struct trace *trace);

/* Attaches to a thread without stopping it: 0, or -1 with errno set: ESRCH: there is no
 * such thread; EPERM: not permitted, or another process traces it. */
int trace_attach(struct traced *traced, pid_t tid);

/* Before a stop: limits the time until all must have stopped, for so many threads. */
void trace_begin(struct trace *trace, size_t threads);
/* Asks an attached thread to stop. */
void trace_interrupt(struct traced *traced);
/*
 * Waits until it has stopped: true. False if it has ended (tid is then 0), or did not
 * stop in time. It can't be released then: trace_end() waits for it, or trace_sweep()
 * finds it later. Until then, it executes nothing but system calls that it is in.
 */
bool trace_wait(struct trace *trace, struct traced *traced);
/* After the threads were released: releases those that were too late, within a second. */
void trace_end(struct trace *trace);

/* Detaches from a thread, which goes on; one that is attached but not stopped is stopped
 * for it first. */
void trace_release(struct trace *trace, struct traced *traced);

/* Releases threads that stopped even later. Does not wait. */
void trace_sweep(struct trace *trace);

/* The process that traces a thread; 0: none, or not known. */
pid_t trace_tracer(pid_t pid, pid_t tid);

/* Writes why a thread of @pid can't be traced, after @errnum: -1. */
int trace_refused(pid_t pid, int errnum, struct error *err);

#endif
