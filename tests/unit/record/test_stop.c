/* SPDX-License-Identifier: BSD-3-Clause */

/* Ctrl-Z waits for guests of which a part can't be released yet. The guest is a fake,
 * because no real guest has such a part at a known time. Each test stops a child
 * process. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/stop.h"

static unsigned int left; /* number of calls until the guest rests */
static int pipe_ends[2];  /* gets a byte for each call */

static bool rest_later(struct guest *guest)
{
	(void)guest;
	if (write(pipe_ends[1], "", 1) != 1)
		_exit(9);
	return left-- == 0;
}

static const struct guest_ops slow = {.rest = rest_later}, plain = {.rest = NULL};

/* Starts a child that stops once the guest rests, after @calls more calls. */
static pid_t stop_child(unsigned int calls)
{
	sigset_t ends;
	pid_t pid;

	assert_int_equal(pipe(pipe_ends), 0);
	left = calls;
	pid = fork();
	if (pid == 0) {
		struct guest guests[] = {{.ops = &plain}, {.ops = &slow}};
		struct subject subjects[] = {{.target.guest = &guests[0]},
					     {.target.guest = &guests[1]}};
		struct subject *list[] = {&subjects[0], &subjects[1]};

		sigemptyset(&ends);
		sigaddset(&ends, SIGTERM);
		sigprocmask(SIG_BLOCK, &ends, NULL);
		stop_here(list, 2);
		_exit(sigpending(&ends) == 0 && sigismember(&ends, SIGTERM) ? 3 : 0);
	}
	assert_true(pid > 0);
	close(pipe_ends[1]);
	return pid;
}

static void it_stops_when_all_guests_rest(void **state)
{
	pid_t pid = stop_child(3);
	char calls[8];
	int status;

	(void)state;
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	assert_int_equal(read(pipe_ends[0], calls, sizeof(calls)), 4);
	kill(pid, SIGCONT);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	close(pipe_ends[0]);
}

static void a_signal_ends_the_wait(void **state)
{
	pid_t pid = stop_child(UINT32_MAX);
	char call;
	int status;

	(void)state;
	assert_int_equal(read(pipe_ends[0], &call, 1), 1);
	kill(pid, SIGTERM);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	close(pipe_ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_stops_when_all_guests_rest),
		cmocka_unit_test(a_signal_ends_the_wait),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
