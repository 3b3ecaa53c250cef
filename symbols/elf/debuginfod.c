/* SPDX-License-Identifier: BSD-3-Clause */
#include "symbols/elf/debuginfod.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM "debuginfod-find"

/* Starts the program with its output in @out. Returns its pid; -1 with errno set. */
static pid_t start_program(const char *build_id, int out)
{
	char *const argv[] = {(char *)PROGRAM, (char *)"debuginfo", (char *)build_id,
			      NULL};
	posix_spawn_file_actions_t actions;
	pid_t pid;

	errno = posix_spawn_file_actions_init(&actions);
	if (errno)
		return -1;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY,
					 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY,
					 0);
	errno = posix_spawnp(&pid, PROGRAM, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return errno ? -1 : pid;
}

/* Reads a path, which ends with a newline, and what may follow. False if it is none. */
static bool read_path(int from, char path[PATH_MAX])
{
	FILE *in = fdopen(from, "r");
	char rest[512], *end;
	bool is_path;

	if (!in) {
		close(from);
		return false;
	}
	is_path = fgets(path, PATH_MAX, in) && *path == '/';
	while (fread(rest, 1, sizeof(rest), in) > 0)
		;
	fclose(in);
	end = is_path ? strchr(path, '\n') : NULL;
	if (end)
		*end = 0;
	return end != NULL;
}

/* Whether the program ended, and well. */
static bool wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

char *debuginfod_find(const char *build_id, struct error *why)
{
	char path[PATH_MAX], *copy = NULL;
	bool is_path;
	int pipes[2];
	pid_t pid;

	if (pipe2(pipes, O_CLOEXEC) < 0) {
		error_set(why, "can't run " PROGRAM ": %s", strerror(errno));
		return NULL;
	}
	pid = start_program(build_id, pipes[1]);
	close(pipes[1]);
	if (pid < 0) {
		error_set(why, "can't run " PROGRAM ": %s", strerror(errno));
		close(pipes[0]);
		return NULL;
	}
	is_path = read_path(pipes[0], path);
	if (wait_for(pid) && is_path)
		copy = strdup(path);
	if (!copy)
		error_set(why, "debuginfod has no debug file for the build-id %s",
			  build_id);
	return copy;
}

const char *debuginfod_hint(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	return urls && *urls ? "; report and archive ask the servers in $DEBUGINFOD_URLS "
			       "for it with --debuginfod"
			     : "";
}
