/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_KVM_TRACE_H
#define UNIPROF_KVM_TRACE_H

#include <stdatomic.h>
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
 *
 * If a thread that is not its process's first calls exec(2), it gets the first one's id,
 * which is the process's, and stays traced (ptrace(2), "execve(2) under ptrace"). So a
 * thread has ended only if no thread with its own id or its process's is traced here.
 */

/* Maximum number of threads that are late at once: all vCPUs that a guest can have, and
 * some more. */
#define TRACE_LATE_MAX (4096 + 256)

/* A thread that was asked to stop and did not in time: it will stop as soon as it can,
 * and stay stopped until it is released. */
struct trace_late {
	_Atomic pid_t tid; /* 0: a free entry */
	pid_t pid;
	_Atomic uint64_t stopped; /* when the guard first saw it stopped, ns, monotonic;
				   * 0: it was not stopped when the guard last looked */
};

/* Late threads, shared with the guard. */
struct trace_shared {
	_Atomic size_t count;
	struct trace_late late[TRACE_LATE_MAX];
};

struct trace {
	int timer; /* interrupts a wait that takes too long */
	bool has_timer;
	bool has_new_late; /* a thread became late since trace_begin() */
	uint64_t deadline; /* end of the current waits, ns, monotonic */
	struct trace_shared *shared;
};

struct traced {
	pid_t pid; /* its process */
	pid_t tid; /* 0: the thread has ended */
	enum traced_state {
		TRACED_NOT,
		TRACED_RUNNING, /* attached */
		TRACED_STOPPED,
	} state;
	int signal; /* passed on when it is released; 0: none */
};

/* Sets up @trace; to be called by the thread that will trace, before the guard is forked.
 * 0, or -1 with the reason in @err. */
int trace_init(struct trace *trace, struct error *err);
void trace_free(struct trace *trace);

/* Attaches to a thread of the process @pid without stopping it: 0, or -1 with errno set:
 * ESRCH: there is no such thread; EPERM: not permitted, or another process traces it. */
int trace_attach(struct traced *traced, pid_t pid, pid_t tid);

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
/* Ends a stop whose threads were released: waits for threads that became late in it, at
 * most half a second, and releases late threads that have stopped. */
void trace_end(struct trace *trace);

/* Detaches from a thread, which continues. If it is attached but not stopped, it is
 * stopped first. */
void trace_release(struct trace *trace, struct traced *traced);

/* Releases late threads that have stopped. Does not wait. */
void trace_sweep(struct trace *trace);

/* Returns the number of late threads, which may stop at any time. */
size_t trace_late_count(const struct trace *trace);
/* Returns whether @tid is a late thread, which is attached already. */
bool trace_is_late(const struct trace *trace, pid_t tid);
/* Returns whether @threads more threads could become late. */
bool trace_has_room(const struct trace *trace, size_t threads);
/* In the guard: looks at the late threads, and returns since when one has been stopped
 * (ns, monotonic); 0 if none is. */
uint64_t trace_late_since(const struct trace *trace);

/* The process that traces a thread; 0: none, or not known. */
pid_t trace_tracer(pid_t pid, pid_t tid);

/* Writes why a thread of @pid can't be traced, after @errnum: -1. */
int trace_refused(pid_t pid, int errnum, struct error *err);

#endif
