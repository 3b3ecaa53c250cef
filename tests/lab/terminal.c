/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a command on a terminal of 80 columns and 24 lines, where there is no tmux:
 * lab-terminal COMMAND... <SCRIPT. The lines of the script are
 *
 *   wait TEXT      waits until the command has written TEXT since the last wait, up to 60
 * s type TEXT      types TEXT signal NUMBER  sends it to the command run COMMAND    runs
 * a shell command beside it
 *
 * What the command writes goes to standard output. Its exit code is passed on; 100: a
 * text did not appear; 101: the terminal's settings are not what they were.
 */
#include <poll.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#include <utmp.h>

#include "base/clock.h"

#define PATIENCE_NS (60 * NS_PER_S)
#define NO_TEXT	    100
#define CHANGED	    101

struct terminal {
	int fd;
	pid_t command;
	char written[1 << 20]; /* since the last wait */
	size_t size;
};

/* Takes what the command writes within 50 ms; false if it has ended. */
static bool take(struct terminal *terminal)
{
	struct pollfd fd = {terminal->fd, POLLIN, 0};
	size_t room = sizeof(terminal->written) - 1 - terminal->size;
	char *at = terminal->written + terminal->size;
	ssize_t got;

	if (room < 4096)
		return false;
	if (poll(&fd, 1, 50) <= 0)
		return true;
	got = read(terminal->fd, at, room);
	if (got <= 0)
		return false;
	fwrite(at, 1, (size_t)got, stdout);
	terminal->size += (size_t)got;
	return true;
}

static void wait_for(struct terminal *terminal, const char *text)
{
	uint64_t until = clock_monotonic() + PATIENCE_NS;

	while (!memmem(terminal->written, terminal->size, text, strlen(text))) {
		if (take(terminal) && clock_monotonic() < until)
			continue;
		fprintf(stderr, "lab-terminal: '%s' did not appear\n", text);
		kill(terminal->command, SIGKILL);
		exit(NO_TEXT);
	}
	terminal->size = 0;
}

static void follow(struct terminal *terminal, char *line)
{
	char *argument = strchr(line, ' ');

	line[strcspn(line, "\n")] = 0;
	if (!argument)
		return;
	*argument++ = 0;
	if (strcmp(line, "wait") == 0)
		wait_for(terminal, argument);
	else if (strcmp(line, "type") == 0 &&
		 write(terminal->fd, argument, strlen(argument)) < 0)
		perror("lab-terminal: write");
	else if (strcmp(line, "signal") == 0)
		kill(terminal->command, atoi(argument));
	else if (strcmp(line, "run") == 0 && system(argument) != 0)
		fprintf(stderr, "lab-terminal: %s failed\n", argument);
}

int main(int argc, char **argv)
{
	static struct terminal terminal;
	const struct winsize size = {.ws_row = 24, .ws_col = 80};
	struct termios before, after;
	int keep, status;
	char line[256];

	if (argc < 2 || openpty(&terminal.fd, &keep, NULL, NULL, &size) < 0) {
		perror("lab-terminal");
		return 1;
	}
	fcntl(terminal.fd, F_SETFD, FD_CLOEXEC);
	tcgetattr(keep, &before);
	terminal.command = fork();
	if (terminal.command == 0) {
		login_tty(keep);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	while (fgets(line, sizeof(line), stdin))
		follow(&terminal, line);
	while (waitpid(terminal.command, &status, WNOHANG) == 0)
		take(&terminal);
	tcgetattr(keep, &after);
	if (memcmp(&before, &after, sizeof(before)) != 0)
		return CHANGED;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
