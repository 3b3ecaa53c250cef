/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library to be preloaded into a recorder: once the recorder has waited for WAITS
 * stopped threads, its next one stays stopped, because the recorder hangs; or, if THEN is
 * "crash", crashes. A debugger can't do this: it also holds a recorder that is killed.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void fail_now(void)
{
	const char *then = getenv("THEN");

	if (then && strcmp(then, "crash") == 0)
		*(volatile int *)NULL = 0;
	for (;;)
		nanosleep(&(struct timespec){1, 0}, NULL);
}

pid_t waitpid(pid_t pid, int *status, int options)
{
	static long waits;
	const char *most = getenv("WAITS");
	pid_t got = (pid_t)syscall(SYS_wait4, pid, status, options, NULL);

	if (options == __WALL && got > 0 && most && ++waits > atol(most))
		fail_now();
	return got;
}
