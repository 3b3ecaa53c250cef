/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"

/* Space in the pipe, while this process is busy or stopped. */
#define PIPE_BYTES (1 << 20)

static void record(int pipe, pid_t viewer, int argc, char **argv)
{
	int status = EXIT_FAILED;

	/* Like Ctrl-C: it resumes its guests. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	optind = 0; /* getopt_long(3): start again */
	if (getppid() == viewer && dup2(pipe, STDOUT_FILENO) >= 0)
		status = command_record.run(&command_record, argc, argv);
	exit(status);
}

int live_start(struct live *live, int argc, char **argv, struct error *err)
{
	pid_t viewer = getpid();
	int ends[2];

	*live = (struct live){.pipe = -1};
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "can't start a recorder");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	fflush(NULL);
	live->recorder = fork();
	if (live->recorder == 0) {
		close(ends[0]);
		record(ends[1], viewer, argc, argv);
	}
	close(ends[1]);
	live->pipe = ends[0];
	if (live->recorder > 0)
		return 0;
	live->recorder = 0;
	return error_errno(err, errno, "can't start a recorder");
}

void live_end(struct live *live)
{
	live->is_asked = true;
	if (live->recorder)
		kill(live->recorder, SIGTERM);
}

void live_stop(struct live *live)
{
	int status = 0;

	if (live->pipe >= 0)
		close(live->pipe);
	live->pipe = -1;
	if (!live->recorder)
		return;
	while (waitpid(live->recorder, &status, 0) < 0 && errno == EINTR)
		;
	live->recorder = 0;
	if (WIFEXITED(status)) {
		live->status = WEXITSTATUS(status);
	} else if (WIFSIGNALED(status) &&
		   !(live->is_asked && WTERMSIG(status) == SIGTERM)) {
		live->status = EXIT_FAILED;
		live->killed = WTERMSIG(status);
	}
}
