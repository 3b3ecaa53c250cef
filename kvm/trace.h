/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_TRACE_H
#define UNIPROF_KVM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/*
 * Stops threads of other processes with ptrace(2) for some microseconds. Nothing in them
 * is changed and no signal is sent: a system call that can be interrupted, such as
 * KVM_RUN, returns, and the thread stops on its way out. If this process dies, the kernel
 * detaches it from all threads, and they continue.
 *
 * Signals that stop a thread while it is traced are passed on when it is released.
 */

/* Maximum number of threads that did not stop in time and are remembered. */
#define TRACE_LATE_MAX 256

struct trace {
	int timer; /* interrupts a wait that takes too long */
	bool has_timer;
	uint64_t deadline;	    /* end of the current waits, ns, monotonic */
	pid_t late[TRACE_LATE_MAX]; /* threads that did not stop in time */
	size_t late_count;
};

struct traced {
	pid_t tid; /* 0: the thread has ended */
	enum traced_state {
		TRACED_NOT,
		TRACED_RUNNING, /* attached */
		TRACED_STOPPED,
	} state;
	int signal; /* passed on when it is released; 0: none */
};

/* Sets up @trace; to be called by the thread that will trace. 0, or -1 with the reason in
 * @err. */
int trace_init(struct trace *trace, struct error *err);
void trace_free(struct trace *trace);

/* Attaches to a thread without stopping it: 0, or -1 with errno set: ESRCH: there is no
 * such thread; EPERM: not permitted, or another process traces it. */
int trace_attach(struct traced *traced, pid_t tid);

/* Starts a stop of @threads threads: limits the time until all must have stopped. */
void trace_begin(struct trace *trace, size_t threads);
/* Asks an attached thread to stop. */
void trace_interrupt(struct traced *traced);
/*
 * Waits until a thread has stopped: true. False if it has ended (tid is then 0), or did
 * not stop in time. A late thread can't be released: trace_end() waits for it, or
 * trace_sweep() finds it later. Until then, it executes nothing but the system call that
 * it is in.
 */
bool trace_wait(struct trace *trace, struct traced *traced);
/* Returns whether an attached thread has stopped, or has ended (tid is then 0), without
 * waiting. */
bool trace_poll(struct traced *traced);
/* Leaves an attached thread that has not stopped to trace_sweep(). */
void trace_leave(struct trace *trace, struct traced *traced);
/* Ends a stop whose threads were released: releases late threads, within a second. */
void trace_end(struct trace *trace);

/* Detaches from a thread, which continues. If it is attached but not stopped, it is
 * stopped first. */
void trace_release(struct trace *trace, struct traced *traced);

/* Releases threads that stopped after trace_end(). Does not wait. */
void trace_sweep(struct trace *trace);

/* The process that traces a thread; 0: none, or not known. */
pid_t trace_tracer(pid_t pid, pid_t tid);

/* Writes why a thread of @pid can't be traced, after @errnum: -1. */
int trace_refused(pid_t pid, int errnum, struct error *err);

#endif
