/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/privileges.h"

/* How long a guest may stay paused because its recorder was stopped. */
#define WATCH_MS 50

struct guard {
	pid_t child;
	int pipe; /* the writing end: it closes when this process ends */
};

/*
 * Who kills the recorder by its command line (pkill -f) shall not hit its guard:
 * writes another one over it. The 48th and 49th field of /proc/PID/stat are where
 * it begins and ends (proc(5)).
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

/* Signals meant for the recorder must not end its guard as well, nor may the
 * guard keep a reader of the recorder's output waiting. */
static void detach(int from_parent, int to_parent)
{
	int last = from_parent > to_parent ? from_parent : to_parent;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	rename_process("guest-guard");
	for (int fd = 0; fd < last; fd++)
		if (fd != from_parent && fd != to_parent)
			close(fd);
	close_range((unsigned int)last + 1, ~0u, 0);
}

/* The kernel's out-of-memory killer shall choose another (proc(5)). Where it
 * may not be asked, it goes without. */
static void refuse_oom(void)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (!file)
		return;
	fputs("-1000", file);
	fclose(file);
}

/* Whether a signal has stopped the process (proc(5), /proc/pid/stat). */
static bool is_stopped(pid_t process)
{
	char path[32], line[256] = "";
	const char *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)process);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = 0;
	fclose(file);
	name_end = strrchr(line, ')');
	return name_end && strncmp(name_end, ") T", 3) == 0;
}

/* The recorder was stopped within a sample: lets it go on to the sample's end, and
 * stops it there, as was wanted. */
static void put_off_stop(const struct capture *capture, pid_t recorder)
{
	const struct timespec moment = {0, 100000};

	for (int tries = 0; tries < 20 && capture_left_paused(capture); tries++) {
		kill(recorder, SIGCONT);
		for (int i = 0; i < 1000 && capture_left_paused(capture); i++)
			nanosleep(&moment, NULL);
		kill(recorder, SIGSTOP);
		for (int i = 0; i < 1000 && !is_stopped(recorder); i++)
			nanosleep(&moment, NULL);
	}
	if (capture_left_paused(capture))
		kill(recorder, SIGCONT);
}

/* Until the recorder has ended: then its end of the pipe is closed. */
static void watch(const struct capture *capture, pid_t recorder, int from_recorder)
{
	struct pollfd pipe = {.fd = from_recorder, .events = POLLIN};

	for (;;) {
		int ready = poll(&pipe, 1, WATCH_MS);

		if (ready > 0)
			return;
		if (ready == 0 && capture_left_paused(capture) && is_stopped(recorder))
			put_off_stop(capture, recorder);
	}
}

static int be_guard(struct capture *capture, pid_t recorder, int from_parent,
		    int to_parent)
{
	struct error err;
	char byte = 1;

	detach(from_parent, to_parent);
	refuse_oom();
	if (capture_adopt(capture, &err) < 0 || write(to_parent, &byte, 1) != 1)
		return 1;
	close(to_parent);
	privileges_confine();
	privileges_drop();
	watch(capture, recorder, from_parent);
	if (capture_left_paused(capture))
		return capture_resume(capture, &err) < 0;
	return 0;
}

struct guard *guard_start(struct capture *capture, struct error *err)
{
	struct guard *guard = calloc(1, sizeof(*guard));
	int to_child[2] = {-1, -1}, to_parent[2] = {-1, -1};
	pid_t recorder = getpid();
	char byte;

	if (!guard || pipe2(to_child, O_CLOEXEC) < 0 || pipe2(to_parent, O_CLOEXEC) < 0)
		goto fail;
	guard->pipe = to_child[1];
	guard->child = fork();
	if (guard->child < 0)
		goto fail;
	if (guard->child == 0) {
		close(to_child[1]);
		close(to_parent[0]);
		_exit(be_guard(capture, recorder, to_child[0], to_parent[1]));
	}
	close(to_child[0]);
	close(to_parent[1]);
	to_child[0] = to_parent[1] = -1;
	if (read(to_parent[0], &byte, 1) == 1) {
		close(to_parent[0]);
		return guard;
	}
	errno = ECHILD;
	waitpid(guard->child, NULL, 0);
fail:
	error_errno(err, errno, "can't start the process that guards the guest");
	for (int i = 0; i < 2; i++) {
		if (to_child[i] >= 0)
			close(to_child[i]);
		if (to_parent[i] >= 0)
			close(to_parent[i]);
	}
	free(guard);
	return NULL;
}

bool guard_alive(struct guard *guard)
{
	return guard->child > 0 && waitpid(guard->child, NULL, WNOHANG) == 0;
}

void guard_stop(struct guard *guard)
{
	if (!guard)
		return;
	close(guard->pipe);
	waitpid(guard->child, NULL, 0);
	free(guard);
}
