/* SPDX-License-Identifier: BSD-3-Clause */

/* Stopping threads of other processes, and letting them go on whatever happens. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "kvm/proc.h"
#include "kvm/trace.h"

static char state_of(pid_t pid)
{
	struct proc_stat stat;
	char text[1024];

	if (proc_read(pid, 0, "stat", text, sizeof(text)) <= 0 ||
	    !proc_parse_stat(text, &stat))
		return 0;
	return stat.state;
}

static void wait_for_state(pid_t pid, char wanted)
{
	for (int i = 0; state_of(pid) != wanted; i++) {
		assert_true(i < 30000);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	}
}

/* A process that sleeps, and ends with exit code 7 after SIGUSR1. */
static void end_7(int number)
{
	(void)number;
	_exit(7);
}

static pid_t start_sleeper(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGUSR1, end_7);
		for (;;)
			pause();
	}
	wait_for_state(pid, 'S');
	return pid;
}

static void kill_sleeper(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static struct trace trace;

static int set_up(void **state)
{
	struct error err;

	(void)state;
	return trace_init(&trace, &err);
}

static int tear_down(void **state)
{
	(void)state;
	trace_free(&trace);
	return 0;
}

static void a_thread_stops_and_goes_on(void **state)
{
	pid_t pid = start_sleeper();
	struct traced traced;

	(void)state;
	for (int i = 0; i < 100; i++) {
		trace_begin(&trace, 1);
		assert_int_equal(trace_attach(&traced, pid), 0);
		assert_int_equal(trace_tracer(pid, pid), getpid());
		trace_interrupt(&traced);
		assert_true(trace_wait(&trace, &traced));
		assert_int_equal(state_of(pid), 't');
		trace_release(&trace, &traced);
		trace_end(&trace);
		assert_int_equal(trace_tracer(pid, pid), 0);
	}
	wait_for_state(pid, 'S');
	kill_sleeper(pid);
}

static void one_that_is_only_attached_is_released_too(void **state)
{
	pid_t pid = start_sleeper();
	struct traced traced;

	(void)state;
	trace_begin(&trace, 1);
	assert_int_equal(trace_attach(&traced, pid), 0);
	trace_release(&trace, &traced);
	trace_end(&trace);
	assert_int_equal(trace_tracer(pid, pid), 0);
	wait_for_state(pid, 'S');
	kill_sleeper(pid);
}

static void a_signal_that_came_first_is_passed_on(void **state)
{
	pid_t pid = start_sleeper();
	struct traced traced;
	int status;

	(void)state;
	trace_begin(&trace, 1);
	assert_int_equal(trace_attach(&traced, pid), 0);
	kill(pid, SIGUSR1);
	wait_for_state(pid, 't');
	trace_interrupt(&traced);
	assert_true(trace_wait(&trace, &traced));
	assert_int_equal(traced.signal, SIGUSR1);
	trace_release(&trace, &traced);
	trace_end(&trace);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

static void a_stopped_process_stays_stopped(void **state)
{
	pid_t pid = start_sleeper();
	struct traced traced;

	(void)state;
	kill(pid, SIGSTOP);
	wait_for_state(pid, 'T');
	trace_begin(&trace, 1);
	assert_int_equal(trace_attach(&traced, pid), 0);
	trace_interrupt(&traced);
	assert_true(trace_wait(&trace, &traced));
	trace_release(&trace, &traced);
	trace_end(&trace);
	wait_for_state(pid, 'T');
	kill(pid, SIGCONT);
	wait_for_state(pid, 'S');
	kill_sleeper(pid);
}

static void one_that_dies_while_it_is_stopped_is_forgotten(void **state)
{
	pid_t pid = start_sleeper();
	struct traced traced;

	(void)state;
	trace_begin(&trace, 1);
	assert_int_equal(trace_attach(&traced, pid), 0);
	trace_interrupt(&traced);
	assert_true(trace_wait(&trace, &traced));
	kill(pid, SIGKILL);
	wait_for_state(pid, 'Z');
	trace_release(&trace, &traced);
	trace_end(&trace);
	assert_int_equal(traced.tid, 0);
}

static void one_that_another_process_traces_is_refused(void **state)
{
	pid_t pid = start_sleeper(), other = fork();
	struct traced traced;

	(void)state;
	assert_true(other >= 0);
	if (other == 0) {
		_exit(trace_attach(&traced, pid) < 0 ? 1 : pause());
	}
	while (trace_tracer(pid, pid) != other)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	assert_int_equal(trace_attach(&traced, pid), -1);
	assert_int_equal(errno, EPERM);
	kill_sleeper(other);
	assert_int_equal(trace_tracer(pid, pid), 0);
	kill_sleeper(pid);
	assert_int_equal(trace_attach(&traced, pid), -1);
	assert_int_equal(errno, ESRCH);
}

/* A parent in vfork(2) can't be interrupted until its child, which waits for a byte from
 * the pipe, ends. */
static pid_t start_stubborn(int from)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		if (vfork() == 0) {
			char byte;

			_exit(read(from, &byte, 1) != 0);
		}
		for (;;)
			pause();
	}
	wait_for_state(pid, 'D');
	return pid;
}

static void others_do_not_wait_long_for_a_late_one(void **state)
{
	struct traced late, quick;
	uint64_t begun;
	int fds[2];
	pid_t stubborn, sleeper;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	stubborn = start_stubborn(fds[0]);
	sleeper = start_sleeper();
	trace_begin(&trace, 2);
	begun = clock_monotonic();
	assert_int_equal(trace_attach(&late, stubborn), 0);
	assert_int_equal(trace_attach(&quick, sleeper), 0);
	trace_interrupt(&late);
	trace_interrupt(&quick);
	assert_false(trace_wait(&trace, &late));
	assert_true(trace_wait(&trace, &quick));
	trace_release(&trace, &quick);
	trace_release(&trace, &late);
	assert_int_equal(trace_tracer(sleeper, sleeper), 0);
	assert_true(clock_monotonic() - begun < NS_PER_S);
	assert_int_equal(trace.late_count, 1);
	trace_end(&trace);
	assert_int_equal(trace.late_count, 1);
	/* Now it can stop, and is found then. */
	assert_int_equal(write(fds[1], "x", 1), 1);
	close(fds[1]);
	close(fds[0]);
	wait_for_state(stubborn, 't');
	trace_sweep(&trace);
	assert_int_equal(trace.late_count, 0);
	assert_int_equal(trace_tracer(stubborn, stubborn), 0);
	wait_for_state(stubborn, 'S');
	kill_sleeper(stubborn);
	kill_sleeper(sleeper);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thread_stops_and_goes_on),
		cmocka_unit_test(one_that_is_only_attached_is_released_too),
		cmocka_unit_test(a_signal_that_came_first_is_passed_on),
		cmocka_unit_test(a_stopped_process_stays_stopped),
		cmocka_unit_test(one_that_dies_while_it_is_stopped_is_forgotten),
		cmocka_unit_test(one_that_another_process_traces_is_refused),
		cmocka_unit_test(others_do_not_wait_long_for_a_late_one),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
