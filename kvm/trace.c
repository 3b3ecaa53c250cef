/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "kvm/proc.h"

/*
 * How long to wait for a thread to stop, ns. A thread that waits for a CPU of a busy host
 * stops when it gets one; a thread that waits for a device in a state that nothing
 * interrupts stops after the wait. The other threads of a VM do not wait for it longer
 * than SHORT_NS.
 */
#define PATIENCE_NS NS_PER_S
#define SHORT_NS    (NS_PER_S / 200)
/* Time after which the signal is repeated, ns: it can arrive just before a wait starts.
 */
#define AGAIN_NS SHORT_NS

/* The signal that interrupts a wait; its handler does nothing. */
#define WAKE SIGRTMIN

/* Missing in older headers (include/uapi/linux/ptrace.h). */
#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

static void wake_tracer(int number)
{
	(void)number;
}

int trace_init(struct trace *trace, struct error *err)
{
	const struct sigaction action = {.sa_handler = wake_tracer};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = WAKE};
	sigset_t mask;
	int id;

	*trace = (struct trace){0};
	sigemptyset(&mask);
	sigaddset(&mask, WAKE);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	/* sigev_notify_thread_id is not declared by glibc (timer_create(2)). */
	event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	/* Not timer_create(), which is in a library of its own before glibc 2.34. */
	if (sigaction(WAKE, &action, NULL) < 0 ||
	    syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id) < 0)
		return error_errno(err, errno, "can't create a timer");
	trace->timer = id;
	trace->has_timer = true;
	return 0;
}

void trace_free(struct trace *trace)
{
	trace_sweep(trace);
	if (trace->has_timer)
		syscall(SYS_timer_delete, trace->timer);
}

int trace_attach(struct traced *traced, pid_t tid)
{
	*traced = (struct traced){.tid = tid};
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -1;
	traced->state = TRACED_RUNNING;
	return 0;
}

static void set_timer(struct trace *trace, uint64_t first, uint64_t again)
{
	const struct itimerspec time = {
		.it_value = {(time_t)(first / NS_PER_S), (long)(first % NS_PER_S)},
		.it_interval = {(time_t)(again / NS_PER_S), (long)(again % NS_PER_S)},
	};

	syscall(SYS_timer_settime, trace->timer, 0, &time, NULL);
}

static void set_deadline(struct trace *trace, uint64_t ns)
{
	trace->deadline = clock_monotonic() + ns;
	set_timer(trace, ns, AGAIN_NS);
}

void trace_begin(struct trace *trace, size_t threads)
{
	set_deadline(trace, threads > 1 ? SHORT_NS : PATIENCE_NS);
}

void trace_interrupt(struct traced *traced)
{
	if (traced->state == TRACED_RUNNING)
		ptrace(PTRACE_INTERRUPT, traced->tid, NULL, NULL);
}

/* Notes the result of wait4() for a thread. True if the thread has stopped, not ended. */
static bool take_status(struct traced *traced, int status)
{
	if (!WIFSTOPPED(status)) {
		*traced = (struct traced){0};
		return false;
	}
	/* Any other stop is a signal on its way, which must not get lost. */
	traced->signal = status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
	traced->state = TRACED_STOPPED;
	return true;
}

bool trace_wait(struct trace *trace, struct traced *traced)
{
	int status;
	pid_t got;

	if (traced->state != TRACED_RUNNING)
		return traced->state == TRACED_STOPPED;
	/* Blocks: a thread on this CPU could not stop while this one polls. */
	while ((got = waitpid(traced->tid, &status, __WALL)) < 0 && errno == EINTR)
		if (clock_monotonic() >= trace->deadline)
			break;
	if (got == traced->tid)
		return take_status(traced, status);
	if (errno == EINTR)
		trace_leave(trace, traced);
	else
		*traced = (struct traced){0};
	return false;
}

bool trace_poll(struct traced *traced)
{
	int status;
	pid_t got = waitpid(traced->tid, &status, __WALL | WNOHANG);

	if (got == traced->tid)
		take_status(traced, status);
	else if (got < 0)
		*traced = (struct traced){0};
	return got != 0;
}

void trace_leave(struct trace *trace, struct traced *traced)
{
	if (trace->late_count < TRACE_LATE_MAX) {
		trace->late[trace->late_count++] = traced->tid;
		traced->state = TRACED_NOT;
	} else {
		*traced = (struct traced){0};
	}
}

void trace_release(struct trace *trace, struct traced *traced)
{
	int status;

	if (traced->state == TRACED_RUNNING) {
		trace_interrupt(traced);
		trace_wait(trace, traced);
	}
	if (traced->state != TRACED_STOPPED)
		return;
	traced->state = TRACED_NOT;
	if (ptrace(PTRACE_DETACH, traced->tid, NULL, (long)traced->signal) == 0)
		return;
	/* Only SIGKILL ends a stop that is not ended by its tracer. A dead thread must be
	 * waited for by its tracer, or its process can't go away. */
	while (waitpid(traced->tid, &status, __WALL) < 0 && errno == EINTR)
		;
	traced->tid = 0;
}

/* trace_wait() puts a thread that is late again back into the list. */
void trace_end(struct trace *trace)
{
	size_t count = trace->late_count;

	if (count)
		set_deadline(trace, PATIENCE_NS);
	trace->late_count = 0;
	for (size_t i = 0; i < count; i++)
		trace_release(trace, &(struct traced){.tid = trace->late[i],
						      .state = TRACED_RUNNING});
	set_timer(trace, 0, 0);
}

void trace_sweep(struct trace *trace)
{
	size_t kept = 0;

	for (size_t i = 0; i < trace->late_count; i++) {
		struct traced traced = {.tid = trace->late[i], .state = TRACED_RUNNING};

		if (trace_poll(&traced))
			trace_release(trace, &traced);
		else
			trace->late[kept++] = traced.tid;
	}
	trace->late_count = kept;
}

pid_t trace_tracer(pid_t pid, pid_t tid)
{
	char text[4096];
	pid_t tracer;

	if (proc_read(pid, tid, "status", text, sizeof(text)) <= 0 ||
	    !proc_parse_tracer(text, &tracer))
		return 0;
	return tracer;
}

/* Yama's setting of who may trace whom (Documentation/admin-guide/LSM/Yama.rst); 0
 * without Yama. */
static int yama_scope(void)
{
	FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (file) {
		if (fscanf(file, "%d", &scope) != 1)
			scope = 0;
		fclose(file);
	}
	return scope;
}

/* Returns which capabilities would permit to trace the process and to list its
 * descriptors. */
static const char *missing_capabilities(pid_t pid)
{
	char path[64], target[8];
	int files = proc_open(pid, 0, "fd");

	/* The folder needs its owner's user ID or CAP_DAC_READ_SEARCH; the link needs
	 * what ptrace(2) needs, and nothing else (proc(5)). */
	if (files >= 0) {
		close(files);
		return "CAP_SYS_PTRACE";
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	return readlink(path, target, sizeof(target)) >= 0
		       ? "CAP_DAC_READ_SEARCH too"
		       : "CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH";
}

int trace_refused(pid_t pid, int errnum, struct error *err)
{
	int scope = yama_scope();

	if (errnum != EPERM && errnum != EACCES)
		return error_errno(err, errnum, "can't trace process %d", pid);
	if (scope == 3)
		return error_set(err, "tracing processes is disabled on this host "
				      "(kernel.yama.ptrace_scope is 3)");
	if (scope)
		return error_set(err,
				 "no permission to trace process %d "
				 "(kernel.yama.ptrace_scope is %d): run this as root, or "
				 "with %s",
				 pid, scope, missing_capabilities(pid));
	return error_set(err,
			 "no permission to trace process %d: run this as root, with "
			 "%s, or as the user that runs it",
			 pid, missing_capabilities(pid));
}
