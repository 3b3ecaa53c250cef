/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/report/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

static const char *pager_command(void)
{
	const char *command = getenv("UNIPROF_PAGER") ?: getenv("PAGER") ?: "less";
	const char *terminal = getenv("TERM");

	if (!isatty(STDOUT_FILENO) || !terminal || strcmp(terminal, "dumb") == 0)
		return NULL;
	return *command && strcmp(command, "cat") != 0 ? command : NULL;
}

static void run_pager(const char *command, int input)
{
	/* less: ends if all fits on the screen, keeps colours and the screen. */
	setenv("LESS", "FRX", false);
	dup2(input, STDIN_FILENO);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(EXIT_FAILURE);
}

/* Whether the shell finds the first word of the command. */
static bool is_command(const char *command)
{
	char test[512];
	int length = snprintf(test, sizeof(test), "command -v %.*s >/dev/null 2>&1",
			      (int)strcspn(command, " "), command);

	return length < (int)sizeof(test) && system(test) == 0;
}

void pager_start(struct pager *pager, bool is_wanted)
{
	const char *command = is_wanted ? pager_command() : NULL;
	size_t columns = command ? text_columns(stdout) : SIZE_MAX;
	int ends[2];

	*pager = (struct pager){.columns = columns == SIZE_MAX ? 0 : columns};
	if (!command || !is_command(command) || pipe2(ends, O_CLOEXEC) < 0)
		return;
	fflush(NULL);
	pager->pid = fork();
	if (pager->pid == 0)
		run_pager(command, ends[0]);
	if (pager->pid > 0) {
		/* Ctrl-C is the pager's: a key ends the pager, and that ends uniprof. */
		signal(SIGINT, SIG_IGN);
		dup2(ends[1], STDOUT_FILENO);
		if (isatty(STDERR_FILENO))
			dup2(ends[1], STDERR_FILENO);
	} else {
		pager->pid = 0;
	}
	close(ends[0]);
	close(ends[1]);
}

void pager_end(struct pager *pager)
{
	if (!pager->pid)
		return;
	fflush(stdout);
	fflush(stderr);
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager->pid, NULL, 0) < 0 && errno == EINTR)
		;
}
