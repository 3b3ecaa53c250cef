/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/top/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"

/* Space in the pipe, for when this process is busy or stopped. */
#define PIPE_BYTES (1 << 20)

/* How long a recorder may take to write its last samples. */
#define PATIENCE_NS (10 * NS_PER_S)

/* Runs `uniprof record`, which writes to @pipe, in the child of @viewer. */
static void record_to(int pipe, pid_t viewer, int argc, char **argv)
{
	int status = EXIT_FAILED;

	/* Like Ctrl-C: it resumes its guests. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	optind = 0; /* getopt_long(3): start again */
	if (getppid() == viewer && dup2(pipe, STDOUT_FILENO) >= 0)
		status = command_record.run(&command_record, argc, argv);
	exit(status);
}

/* Starts `uniprof record` with the command line @argv. Returns the end of its pipe to
 * read from; -1 with @err set on failure. */
static int recorder_start(struct recorder *recorder, int argc, char **argv,
			  struct error *err)
{
	pid_t viewer = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, errno, "can't start a recorder");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	fflush(NULL);
	recorder->pid = fork();
	if (recorder->pid == 0) {
		close(ends[0]);
		record_to(ends[1], viewer, argc, argv);
	}
	close(ends[1]);
	if (recorder->pid > 0)
		return ends[0];
	recorder->pid = 0;
	error_errno(err, errno, "can't start a recorder");
	close(ends[0]);
	return -1;
}

/* Waits for the end of the recorder, which was asked to end. */
static void recorder_wait(struct recorder *recorder)
{
	int status = 0;

	while (waitpid(recorder->pid, &status, 0) < 0 && errno == EINTR)
		;
	recorder->pid = 0;
	if (WIFEXITED(status)) {
		recorder->status = WEXITSTATUS(status);
	} else if (WIFSIGNALED(status) && WTERMSIG(status) != SIGTERM) {
		recorder->status = EXIT_FAILED;
		recorder->killed = WTERMSIG(status);
	}
}

static int open_recorder(struct feed *feed, const struct top_options *options,
			 struct error *err)
{
	struct words words = {0};

	feed->input = (struct input){.name = "the samples", .fd = -1, .start = -1};
	top_options_record(options, &words);
	if (words.is_cut)
		error_set(err, "out of memory");
	else
		feed->input.fd = recorder_start(&feed->recorder, (int)words.count,
						words.word, err);
	words_free(&words);
	return feed->input.fd < 0 ? -1 : 0;
}

int feed_open(struct feed *feed, const struct top_options *options, struct error *err)
{
	int status;

	*feed = FEED_CLOSED;
	feed->is_recording = options->input;
	if (options->input) {
		signal(SIGIO, SIG_IGN); /* recent_is_written() */
		status = input_open(&feed->input, options->input, err);
	} else {
		status = open_recorder(feed, options, err);
	}
	return status < 0
		       ? -1
		       : recent_open(&feed->recent, &feed->input, options->window, err);
}

int feed_descriptor(const struct feed *feed)
{
	return feed->input.start >= 0 || !feed->recent.more ? -1 : feed->input.fd;
}

int feed_read_until(struct feed *feed, uint64_t deadline, struct error *err)
{
	for (;;) {
		struct pollfd fd = {feed_descriptor(feed), POLLIN, 0};
		uint64_t now = clock_monotonic(), left = deadline - now;

		if (recent_more(&feed->recent, err) < 0)
			return -1;
		if (!feed->recent.more || now >= deadline)
			return 0;
		if (fd.fd < 0 && left > FEED_LOOK_NS)
			left = FEED_LOOK_NS;
		poll(&fd, 1, (int)(left / 1000000) + 1);
	}
}

void feed_end(struct feed *feed)
{
	struct error ignored;

	if (!feed->recorder.pid)
		return;
	kill(feed->recorder.pid, SIGTERM);
	feed_read_until(feed, clock_monotonic() + PATIENCE_NS, &ignored);
	close(feed->input.fd);
	feed->input.fd = -1;
	recorder_wait(&feed->recorder);
}

void feed_close(struct feed *feed)
{
	recent_close(&feed->recent);
	input_close(&feed->input);
}
