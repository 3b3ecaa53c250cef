/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/command/message.h"
#include "record/signals.h"

void children_hold(struct children *children)
{
	children->interrupted = false;
	sigprocmask(SIG_SETMASK, NULL, &children->before);
	signals_block(&children->signals);
}

void children_release(const struct children *children)
{
	sigprocmask(SIG_SETMASK, &children->before, NULL);
}

/* Returns the exit code of @child; -1 if it has not ended. */
static int child_status(const struct children *children, pid_t child)
{
	int status;

	if (waitpid(child, &status, WNOHANG) != child)
		return -1;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	message(children->command, "a step was killed by signal %d (%s)",
		WTERMSIG(status), strsignal(WTERMSIG(status)));
	return EXIT_FAILED;
}

/* Waits for the end of @child. Returns its exit code. With @passes_on, signals that end
 * processes are passed on to it, except from the terminal (Ctrl-C), which sends them to
 * the child, too. */
static int child_wait(struct children *children, pid_t child, bool passes_on)
{
	siginfo_t info;

	for (;;) {
		int number = sigwaitinfo(&children->signals, &info), code;

		if (number < 0)
			continue;
		if (number == SIGCHLD && (code = child_status(children, child)) >= 0)
			return code;
		if (number == SIGTSTP)
			raise(SIGSTOP);
		if (number == SIGCHLD || number == SIGTSTP || number == SIGCONT)
			continue;
		children->interrupted = true;
		if (passes_on && info.si_code != SI_KERNEL)
			kill(child, number);
	}
}

/* Makes @fd read nothing, and write nowhere. */
static void discard_fd(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null >= 0)
		dup2(null, fd);
}

int child_command(struct children *children, const struct command *command, char **argv,
		  bool is_quiet)
{
	int argc = 0, code;
	pid_t parent = getpid(), child;

	while (argv[argc])
		argc++;
	fflush(NULL);
	child = fork();
	if (child < 0) {
		message(children->command, "can't start a process: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (child)
		return child_wait(children, child, true);
	/* Ctrl-C can't reach a recorder whose parent is gone. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
	if (is_quiet)
		discard_fd(STDERR_FILENO);
	children_release(children);
	code = command->run(command, argc, argv);
	_exit(fflush(NULL) == 0 || code ? code : EXIT_FAILED);
}

int child_program(struct children *children, char *const *argv, bool is_quiet)
{
	pid_t child = fork();

	if (child < 0)
		return CHILD_NOT_RUN;
	if (child)
		return child_wait(children, child, false);
	setpgid(0, 0);
	discard_fd(STDIN_FILENO);
	if (is_quiet)
		discard_fd(STDERR_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	children_release(children);
	execvp(argv[0], argv);
	_exit(CHILD_NOT_RUN);
}
