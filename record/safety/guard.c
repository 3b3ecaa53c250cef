/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/safety/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"
#include "record/safety/priority.h"
#include "record/safety/filter.h"
#include "record/safety/privileges.h"

/* Maximum time that a guest stays paused because its recorder was stopped, ns */
#define WATCH_NS (NS_PER_S / 20)

/* An attempt to let a stopped recorder finish its sample: time between checks, ns, and
 * maximum time until it has finished, and until it has stopped again, ns */
#define MOMENT_NS (100 * NS_PER_US)
#define FINISH_NS (NS_PER_S / 50)

/* Time after which a guard that has not looked does not watch, ns. It looks at least each
 * WATCH_NS + 2 * FINISH_NS. */
#define BLIND_NS (NS_PER_S / 2)

/* Maximum time between two looks at a pause that counts for its limit, ns: the time of a
 * host that stands still is not the recorder's. */
#define LOOK_NS (2 * (WATCH_NS + 2 * FINISH_NS))

/* Memory that the guard and the recorder share. */
struct guard_shared {
	/*
	 * A mutex locked by the sampling thread. When that thread ends in any way, the
	 * kernel first wakes the guard (set_robust_list(2)), even before it frees the
	 * process's memory.
	 */
	pthread_mutex_t alive;
	_Atomic uint64_t looked; /* time of the guard's last look, ns, monotonic */
};

struct guard {
	struct host *host;
	notify_function *notify; /* NULL: nobody is told */
	pid_t child;		 /* the guard, in the recorder */
	struct guard_shared *shared;
	/* A pipe that the guard reads. It closes at any end of the recorder, but only
	 * after the recorder's memory is freed. */
	int pipe[2];
	pid_t recorder;
	/* A descriptor of the recorder, never of a process that gets its pid later; -1:
	 * not supported by the kernel */
	int pidfd;
	int status; /* descriptor of the recorder's /proc/PID/stat */
};

/*
 * Overwrites the guard's command line, so that killing the recorder by its command line
 * (pkill -f) does not hit the guard. The 48th and 49th field of /proc/PID/stat are its
 * start and end (proc(5)).
 */
static void rename_process(const char *name)
{
	FILE *file = fopen("/proc/self/stat", "re");
	char line[1024] = "";
	const char *at = line;
	uintptr_t begin, end;

	prctl(PR_SET_NAME, name);
	if (!file)
		return;
	if (fgets(line, sizeof(line), file))
		at = strrchr(line, ')');
	fclose(file);
	for (int field = 2; at && field < 48; field++) {
		at = strchr(at, ' ');
		at += at != NULL;
	}
	if (!at || sscanf(at, "%" SCNuPTR " %" SCNuPTR, &begin, &end) != 2 ||
	    end <= begin)
		return;
	memset((void *)begin, 0, end - begin);
	strncpy((char *)begin, name, end - begin - 1);
}

/* Separates the guard from the recorder: signals for the recorder must not end it, and it
 * must not keep a reader of the recorder's output waiting. Closes all files but @kept. */
static void detach_from_recorder(const int *kept, size_t count)
{
	int last = 0;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	rename_process("guest-guard");
	for (size_t i = 0; i < count; i++)
		last = kept[i] > last ? kept[i] : last;
	for (int fd = 0; fd < last; fd++) {
		bool keep = false;

		for (size_t i = 0; i < count; i++)
			keep |= kept[i] == fd;
		if (!keep)
			close(fd);
	}
	close_range((unsigned int)last + 1, ~0u, 0);
}

/* Protects the guard from the kernel's out-of-memory killer (proc(5)), if permitted. */
static void refuse_oom(void)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (!file)
		return;
	fputs("-1000", file);
	fclose(file);
}

/* Returns whether a signal has stopped the recorder (proc(5), /proc/pid/stat). */
static bool is_stopped(const struct guard *guard)
{
	char line[256];
	const char *name_end;
	ssize_t length = pread(guard->status, line, sizeof(line) - 1, 0);

	if (length <= 0)
		return false;
	line[length] = 0;
	name_end = strrchr(line, ')');
	return name_end && strncmp(name_end, ") T", 3) == 0;
}

static void send_signal(const struct guard *guard, int number)
{
	if (guard->pidfd >= 0)
		syscall(SYS_pidfd_send_signal, guard->pidfd, number, NULL, 0);
	else if (getppid() == guard->recorder)
		kill(guard->recorder, number); /* its pid can't be reused yet */
}

/* Waits at most @ns for the recorder's end. Returns whether it has ended. */
static bool has_ended(const struct guard *guard, uint64_t ns)
{
	uint64_t until = clock_monotonic() + ns;
	const struct timespec time = {(time_t)(until / NS_PER_S),
				      (long)(until % NS_PER_S)};
	struct pollfd pipe = {.fd = guard->pipe[0], .events = POLLIN};
	int status = pthread_mutex_clocklock(&guard->shared->alive, CLOCK_MONOTONIC,
					     &time);

	if (status == 0 || status == EOWNERDEAD)
		return true;
	if (status != ETIMEDOUT)
		nanosleep(&(struct timespec){0, (long)ns}, NULL);
	return poll(&pipe, 1, 0) > 0;
}

static uint64_t paused_since(const struct guard *guard)
{
	return guard->host->ops->paused_since(guard->host);
}

/* Continues a recorder that was stopped during a sample, and stops it again at the end of
 * the sample. True if it ended meanwhile. */
static bool put_off_stop(const struct guard *guard)
{
	uint64_t until = clock_monotonic() + FINISH_NS;

	send_signal(guard, SIGCONT);
	while (paused_since(guard) && clock_monotonic() < until)
		if (has_ended(guard, MOMENT_NS))
			return true;
	send_signal(guard, SIGSTOP);
	until = clock_monotonic() + FINISH_NS;
	while (!is_stopped(guard) && clock_monotonic() < until)
		if (has_ended(guard, MOMENT_NS))
			return true;
	return false;
}

/* The pause that the guard has last seen. */
struct seen_pause {
	uint64_t since;	 /* as host_ops.paused_since() returns it */
	uint64_t looked; /* time of the last look, ns, monotonic */
	uint64_t length; /* time of the pause that counts, ns */
};

/* Looks at the pause once more; returns whether it has reached its limit. */
static bool is_overdue(const struct guard *guard, struct seen_pause *seen)
{
	uint64_t since = paused_since(guard), now = clock_monotonic(), passed;

	if (since != seen->since) {
		seen->length = 0;
		seen->looked = since;
	}
	passed = now - seen->looked;
	seen->length += passed < LOOK_NS ? passed : LOOK_NS;
	seen->looked = now;
	seen->since = since;
	return since && since != HOLDS_LATE && seen->length >= PAUSE_LIMIT;
}

/* Returns the time after which to look again, ns. */
static uint64_t time_to_look(const struct seen_pause *seen)
{
	uint64_t left = PAUSE_LIMIT - seen->length % PAUSE_LIMIT;

	return seen->since && left < WATCH_NS ? left : WATCH_NS;
}

/* Kills the recorder. */
static void end_recorder(const struct guard *guard)
{
	send_signal(guard, SIGKILL);
	if (guard->notify)
		notify(guard->notify,
		       "a pause did not end within %g s: the recorder was killed, so "
		       "that the guest runs",
		       (double)PAUSE_LIMIT / NS_PER_S);
}

/* Shows the recorder that the guard is not stopped. */
static void note_look(const struct guard *guard)
{
	atomic_store(&guard->shared->looked, clock_monotonic());
}

/* Puts off the recorder's stops until it has ended, and ends it if a pause takes too
 * long, whatever keeps the recorder from ending the pause. */
static void watch_recorder(const struct guard *guard)
{
	struct seen_pause seen = {0};

	while (!has_ended(guard, time_to_look(&seen))) {
		note_look(guard);
		if (is_overdue(guard, &seen)) {
			end_recorder(guard);
			seen.length = 0;
		} else if (seen.since && is_stopped(guard) && put_off_stop(guard)) {
			return;
		}
	}
}

static int be_guard(struct guard *guard, int to_parent)
{
	const int kept[] = {
		guard->pipe[0],		 to_parent,    guard->pidfd, guard->status,
		guard->host->connection, STDERR_FILENO};
	const struct filter_guard needed = {
		.recorder = guard->recorder,
		.pidfd = guard->pidfd,
		.ready = to_parent,
	};
	struct host *host = guard->host;
	struct error err;
	char byte = 1;
	int status = 0;

	detach_from_recorder(kept, sizeof(kept) / sizeof(*kept));
	refuse_oom();
	if (host->ops->adopt(host, &err) < 0)
		return 1;
	/* The guard must not be delayed when the recorder ends. */
	priority_set(PRIORITY_GUARD);
	privileges_confine(&(struct privileges){
		.signals = true,
		.inspects = host->ops->needs->inspects,
	});
	mlockall(MCL_CURRENT);
	privileges_drop(host->ops->needs->inspects ? KEEP_INSPECTING : KEEP_NOTHING);
	/* A failure is ignored: the recorder reports it if the kernel has no filters. */
	filter_guard(host->ops->needs, &needed, &err);
	note_look(guard);
	if (write(to_parent, &byte, 1) != 1)
		return 1;
	close(to_parent);
	watch_recorder(guard);
	if (paused_since(guard))
		status = host->ops->resume(host, &err) < 0;
	if (host->ops->tidy)
		host->ops->tidy(host);
	return status;
}

/* Returns the shared memory, whose mutex this thread holds; NULL on failure. */
static struct guard_shared *share_memory(void)
{
	struct guard_shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1,
					   0);
	pthread_mutexattr_t robust;

	if (shared == MAP_FAILED)
		return NULL;
	pthread_mutexattr_init(&robust);
	pthread_mutexattr_setpshared(&robust, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->alive, &robust);
	pthread_mutexattr_destroy(&robust);
	pthread_mutex_lock(&shared->alive);
	return shared;
}

static void close_all(struct guard *guard)
{
	const int fds[] = {guard->pipe[0], guard->pipe[1], guard->pidfd, guard->status};

	for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (guard->shared)
		munmap(guard->shared, sizeof(*guard->shared));
	free(guard);
}

static int fork_guard(struct guard *guard)
{
	int to_parent[2];
	ssize_t ready;
	char byte;

	if (pipe2(to_parent, O_CLOEXEC) < 0)
		return -1;
	guard->child = fork();
	if (guard->child == 0) {
		close(guard->pipe[1]);
		close(to_parent[0]);
		_exit(be_guard(guard, to_parent[1]));
	}
	close(to_parent[1]);
	ready = guard->child < 0 ? 0 : read(to_parent[0], &byte, 1);
	close(to_parent[0]);
	if (ready == 1)
		return 0;
	if (guard->child < 0)
		return -1;
	waitpid(guard->child, NULL, 0);
	errno = ECHILD;
	return -1;
}

struct guard *guard_start(struct host *host, notify_function *to, struct error *err)
{
	struct guard *guard;

	if (host->ops->arm(host, err) < 0)
		return NULL;
	guard = malloc(sizeof(*guard));
	if (!guard) {
		error_set(err, "out of memory");
		return NULL;
	}
	/* A process ends only after its core is dumped; the guest would stay paused. */
	prctl(PR_SET_DUMPABLE, 0);
	*guard = (struct guard){
		.host = host,
		.notify = to,
		.pipe = {-1, -1},
		.recorder = getpid(),
		.shared = share_memory(),
		.pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0),
		.status = open("/proc/self/stat", O_RDONLY | O_CLOEXEC),
	};
	if (!guard->shared || guard->status < 0 || pipe2(guard->pipe, O_CLOEXEC) < 0 ||
	    fork_guard(guard) < 0) {
		error_errno(err, errno, "can't start the guard process");
		close_all(guard);
		return NULL;
	}
	return guard;
}

bool guard_alive(struct guard *guard)
{
	return guard->child > 0 && waitpid(guard->child, NULL, WNOHANG) == 0;
}

bool guard_watches(const struct guard *guard)
{
	uint64_t looked = atomic_load(&guard->shared->looked);

	return clock_monotonic() - looked < BLIND_NS;
}

void guard_stop(struct guard *guard)
{
	if (!guard)
		return;
	pthread_mutex_unlock(&guard->shared->alive);
	/* A guard that is stopped ends once it is continued. */
	waitpid(guard->child, NULL, WUNTRACED);
	close_all(guard);
}
