/* SPDX-License-Identifier: BSD-3-Clause */
#include "kvm/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "kvm/proc.h"

/* timer_create(2); glibc has no name for it. */
#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

/*
 * How long to wait for a thread to stop, ns. A thread that waits for a CPU of a busy host
 * stops when it gets one; a thread that waits for a device in a state that nothing
 * interrupts stops after the wait. The other threads of a VM do not wait for it longer
 * than SHORT_NS. All waits together are far shorter than what the guard allows a pause
 * (PAUSE_LIMIT).
 */
#define PATIENCE_NS (NS_PER_S / 2)
#define SHORT_NS    (NS_PER_S / 200)
/* Time between two looks whether late threads have stopped, ns. */
#define MOMENT_NS 200000
/*
 * Time between two signals that interrupt a wait, ns. The first can arrive just before
 * the wait starts. A wait for a thread that gets another id by exec(2) does not end, and
 * must be repeated.
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
	trace->shared = mmap(NULL, sizeof(*trace->shared), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (trace->shared == MAP_FAILED) {
		trace->shared = NULL;
		return error_errno(err, errno, "can't allocate memory");
	}
	sigemptyset(&mask);
	sigaddset(&mask, WAKE);
	sigprocmask(SIG_UNBLOCK, &mask, NULL);
	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
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
	if (!trace->shared)
		return;
	trace_sweep(trace);
	if (trace->has_timer)
		syscall(SYS_timer_delete, trace->timer);
	munmap(trace->shared, sizeof(*trace->shared));
}

int trace_attach(struct traced *traced, pid_t pid, pid_t tid)
{
	*traced = (struct traced){.pid = pid, .tid = tid};
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
		return -1;
	traced->state = TRACED_RUNNING;
	return 0;
}

/* Lets a signal interrupt waits every @ns; 0: no more. */
static void set_timer(struct trace *trace, uint64_t ns)
{
	const struct timespec time = {(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
	const struct itimerspec times = {.it_value = time, .it_interval = time};

	syscall(SYS_timer_settime, trace->timer, 0, &times, NULL);
}

void trace_begin(struct trace *trace, size_t threads)
{
	trace->has_new_late = false;
	trace->deadline = clock_monotonic() + (threads > 1 ? SHORT_NS : PATIENCE_NS);
	set_timer(trace, AGAIN_NS);
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

/*
 * Looks for a thread whose id is gone by its process's id, which it has after exec(2),
 * and asks it to stop: if it was not asked before, it was not stopped by exec(2) either.
 * False if it was looked for by that id already: it has ended.
 */
static bool follow_exec(struct traced *traced)
{
	if (traced->tid == traced->pid)
		return false;
	traced->tid = traced->pid;
	ptrace(PTRACE_INTERRUPT, traced->tid, NULL, NULL);
	return true;
}

/* Waits for a thread to stop or end, as waitpid(2) with @options does. After ECHILD, it
 * is not traced here. */
static pid_t wait_for_thread(struct traced *traced, int *status, int options)
{
	pid_t got;

	do
		got = waitpid(traced->tid, status, __WALL | options);
	while (got < 0 && errno == ECHILD && follow_exec(traced));
	return got;
}

bool trace_wait(struct trace *trace, struct traced *traced)
{
	bool is_over;
	int status;
	pid_t got;

	if (traced->state != TRACED_RUNNING)
		return traced->state == TRACED_STOPPED;
	/* Blocks: a thread on this CPU could not stop while this one polls. */
	do {
		is_over = clock_monotonic() >= trace->deadline;
		got = wait_for_thread(traced, &status, is_over ? WNOHANG : 0);
	} while (got < 0 && errno == EINTR);
	if (got > 0)
		return take_status(traced, status);
	if (got == 0)
		trace_leave(trace, traced);
	else
		*traced = (struct traced){0};
	return false;
}

bool trace_poll(struct traced *traced)
{
	int status;
	pid_t got = wait_for_thread(traced, &status, WNOHANG);

	if (got > 0)
		take_status(traced, status);
	else if (got < 0)
		*traced = (struct traced){0};
	return got != 0;
}

void trace_leave(struct trace *trace, struct traced *traced)
{
	struct trace_late *late = trace->shared->late;

	while (late->tid)
		late++;
	late->pid = traced->pid;
	late->stopped = 0;
	late->tid = traced->tid;
	trace->shared->count++;
	trace->has_new_late = true;
	traced->state = TRACED_NOT;
}

/* Detaches from a stopped thread. False if it is not stopped any more: it was killed, and
 * must be waited for, or its process can't go away; or another thread that is traced has
 * its id, after exec(2), and was asked to stop. */
static bool detach(struct traced *traced)
{
	if (ptrace(PTRACE_DETACH, traced->tid, NULL, (long)traced->signal) == 0) {
		traced->state = TRACED_NOT;
		return true;
	}
	traced->state = TRACED_RUNNING;
	trace_interrupt(traced);
	return false;
}

void trace_release(struct trace *trace, struct traced *traced)
{
	trace_interrupt(traced);
	while (trace_wait(trace, traced) && !detach(traced))
		;
}

void trace_end(struct trace *trace)
{
	const struct timespec moment = {0, MOMENT_NS};
	uint64_t until = trace->has_new_late ? clock_monotonic() + PATIENCE_NS : 0;

	trace_sweep(trace);
	while (trace_late_count(trace) && clock_monotonic() < until) {
		nanosleep(&moment, NULL);
		trace_sweep(trace);
	}
	set_timer(trace, 0);
}

/* Releases a late thread if it has stopped. Returns whether it is late no more. */
static bool sweep_late(struct trace_late *late)
{
	struct traced traced = {
		.pid = late->pid, .tid = late->tid, .state = TRACED_RUNNING};

	while (trace_poll(&traced))
		if (traced.state != TRACED_STOPPED || detach(&traced))
			return true;
	late->tid = traced.tid;
	return false;
}

void trace_sweep(struct trace *trace)
{
	struct trace_late *late = trace->shared->late;

	for (size_t left = trace->shared->count; left; late++) {
		if (!late->tid)
			continue;
		left--;
		if (!sweep_late(late))
			continue;
		late->tid = 0;
		trace->shared->count--;
	}
}

size_t trace_late_count(const struct trace *trace)
{
	return trace->shared->count;
}

bool trace_is_late(const struct trace *trace, pid_t tid)
{
	const struct trace_late *late = trace->shared->late;

	for (size_t left = trace->shared->count; left; late++) {
		if (late->tid == tid)
			return true;
		left -= late->tid != 0;
	}
	return false;
}

bool trace_has_room(const struct trace *trace, size_t threads)
{
	return threads <= TRACE_LATE_MAX - trace->shared->count;
}

/* Returns whether its tracer has stopped a thread, which has the process's id if it has
 * executed a program. */
static bool is_stopped(pid_t pid, pid_t tid)
{
	struct proc_stat stat;
	char text[1024];

	if (proc_read(pid, tid, "stat", text, sizeof(text)) <= 0 &&
	    proc_read(pid, pid, "stat", text, sizeof(text)) <= 0)
		return false;
	return proc_parse_stat(text, &stat) && stat.state == 't';
}

/* An entry may be freed or used again by the recorder meanwhile, so that the result can
 * be wrong once; an entry is looked at again each time. */
uint64_t trace_late_since(const struct trace *trace)
{
	struct trace_shared *shared = trace->shared;
	uint64_t since = 0;

	for (size_t i = 0; shared->count && i < TRACE_LATE_MAX; i++) {
		struct trace_late *late = &shared->late[i];
		pid_t tid = late->tid;
		uint64_t stopped;

		if (!tid)
			continue;
		stopped = late->stopped;
		if (!is_stopped(late->pid, tid))
			stopped = 0;
		else if (!stopped)
			stopped = clock_monotonic();
		late->stopped = stopped;
		if (stopped && (!since || stopped < since))
			since = stopped;
	}
	return since;
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
