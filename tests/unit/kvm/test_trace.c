/* SPDX-License-Identifier: BSD-3-Clause */

/* Stopping threads of other processes, and letting them go on whatever happens. */

#define _GNU_SOURCE 1
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

/* Begins a stop of one thread, which on a busy machine may take long to get a CPU. */
static void begin_stop(void)
{
	trace_begin(&trace, 1);
	trace.deadline += 60 * NS_PER_S;
}

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
		begin_stop();
		assert_int_equal(trace_attach(&traced, pid, pid), 0);
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
	begin_stop();
	assert_int_equal(trace_attach(&traced, pid, pid), 0);
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
	begin_stop();
	assert_int_equal(trace_attach(&traced, pid, pid), 0);
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
	begin_stop();
	assert_int_equal(trace_attach(&traced, pid, pid), 0);
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
	begin_stop();
	assert_int_equal(trace_attach(&traced, pid, pid), 0);
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
		_exit(trace_attach(&traced, pid, pid) < 0 ? 1 : pause());
	}
	while (trace_tracer(pid, pid) != other)
		nanosleep(&(struct timespec){0, 1000000}, NULL);
	assert_int_equal(trace_attach(&traced, pid, pid), -1);
	assert_int_equal(errno, EPERM);
	kill_sleeper(other);
	assert_int_equal(trace_tracer(pid, pid), 0);
	kill_sleeper(pid);
	assert_int_equal(trace_attach(&traced, pid, pid), -1);
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
	assert_int_equal(trace_attach(&late, stubborn, stubborn), 0);
	assert_int_equal(trace_attach(&quick, sleeper, sleeper), 0);
	trace_interrupt(&late);
	trace_interrupt(&quick);
	wait_for_state(sleeper, 't');
	begun = clock_monotonic();
	trace_begin(&trace, 2);
	assert_false(trace_wait(&trace, &late));
	assert_true(trace_wait(&trace, &quick));
	trace_release(&trace, &quick);
	trace_release(&trace, &late);
	assert_int_equal(trace_tracer(sleeper, sleeper), 0);
	assert_true(clock_monotonic() - begun < NS_PER_S);
	assert_int_equal(trace_late_count(&trace), 1);
	trace_end(&trace);
	assert_int_equal(trace_late_count(&trace), 1);
	assert_true(trace_is_late(&trace, stubborn));
	assert_int_equal(trace_late_since(&trace), 0);
	/* Now it can stop, and is found then. */
	assert_int_equal(write(fds[1], "x", 1), 1);
	close(fds[1]);
	close(fds[0]);
	wait_for_state(stubborn, 't');
	assert_true(trace_late_since(&trace) > begun);
	assert_int_equal(trace_late_since(&trace), trace_late_since(&trace));
	trace_sweep(&trace);
	assert_int_equal(trace_late_count(&trace), 0);
	assert_int_equal(trace_late_since(&trace), 0);
	assert_int_equal(trace_tracer(stubborn, stubborn), 0);
	wait_for_state(stubborn, 'S');
	kill_sleeper(stubborn);
	kill_sleeper(sleeper);
}

/* A process whose second thread executes another program after a byte from the pipe. */
static int begins_exec;

static void *exec_after_byte(void *context)
{
	char byte;

	(void)context;
	if (read(begins_exec, &byte, 1) == 1)
		execlp("sleep", "sleep", "1000", (char *)NULL);
	_exit(1);
}

static pid_t second_thread(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	pid_t tid = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	while (!tid) {
		dir = opendir(path);
		assert_non_null(dir);
		while ((entry = readdir(dir)))
			if (atoi(entry->d_name) > 0 && atoi(entry->d_name) != pid)
				tid = atoi(entry->d_name);
		closedir(dir);
	}
	return tid;
}

/* Not a child of this process, which could wait for it also when it is not traced. */
static pid_t start_two_threads(int from, pid_t *second)
{
	pthread_t thread;
	int fds[2];
	pid_t pid, parent;

	assert_int_equal(pipe(fds), 0);
	parent = fork();
	assert_true(parent >= 0);
	if (parent == 0) {
		pid = fork();
		if (pid)
			_exit(write(fds[1], &pid, sizeof(pid)) != sizeof(pid));
		begins_exec = from;
		if (pthread_create(&thread, NULL, exec_after_byte, NULL))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(read(fds[0], &pid, sizeof(pid)), sizeof(pid));
	close(fds[0]);
	close(fds[1]);
	*second = second_thread(pid);
	return pid;
}

static void wait_for_exec(pid_t pid)
{
	struct proc_stat stat = {0};
	char text[1024];

	for (int i = 0; strcmp(stat.command, "sleep") != 0; i++) {
		assert_true(i < 30000);
		nanosleep(&(struct timespec){0, 1000000}, NULL);
		if (proc_read(pid, 0, "stat", text, sizeof(text)) <= 0 ||
		    !proc_parse_stat(text, &stat))
			stat.command[0] = 0;
	}
}

/* The thread gets its process's id. Its first thread, which had the id, ends, traced or
 * not. */
static void check_exec(bool traces_first, bool asks_before)
{
	struct traced traced, first = {0};
	int fds[2];
	pid_t pid, second;

	assert_int_equal(pipe(fds), 0);
	pid = start_two_threads(fds[0], &second);
	if (traces_first)
		assert_int_equal(trace_attach(&first, pid, pid), 0);
	assert_int_equal(trace_attach(&traced, pid, second), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	wait_for_exec(pid);
	assert_int_equal(trace_tracer(pid, pid), getpid());
	begin_stop();
	if (asks_before)
		trace_interrupt(&traced);
	trace_release(&trace, &traced);
	trace_release(&trace, &first);
	trace_end(&trace);
	assert_int_equal(trace_late_count(&trace), 0);
	assert_int_equal(trace_tracer(pid, pid), 0);
	wait_for_state(pid, 'S');
	kill(pid, SIGKILL);
	close(fds[0]);
	close(fds[1]);
}

static void one_that_executes_a_program_is_found_by_its_new_id(void **state)
{
	(void)state;
	check_exec(false, false);
	check_exec(false, true);
	check_exec(true, false);
}

/* It was asked to stop before, and stops in the new program. */
static void one_that_is_late_and_executes_a_program_is_found(void **state)
{
	struct traced traced;
	int fds[2];
	pid_t pid, second;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = start_two_threads(fds[0], &second);
	assert_int_equal(trace_attach(&traced, pid, second), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	trace_leave(&trace, &traced);
	wait_for_exec(pid);
	assert_int_equal(trace_late_since(&trace), 0);
	trace_sweep(&trace); /* asks it to stop, and releases it if it does so at once */
	if (trace_late_count(&trace)) {
		wait_for_state(pid, 't');
		assert_true(trace_late_since(&trace) > 0);
		trace_sweep(&trace);
	}
	assert_int_equal(trace_late_count(&trace), 0);
	assert_int_equal(trace_tracer(pid, pid), 0);
	wait_for_state(pid, 'S');
	kill(pid, SIGKILL);
	close(fds[0]);
	close(fds[1]);
}

/* The first thread can't be waited for before the second, which is released later. */
static void a_process_that_dies_while_it_is_stopped_is_forgotten(void **state)
{
	struct traced first, second;
	int fds[2];
	pid_t pid, tid;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	pid = start_two_threads(fds[0], &tid);
	assert_int_equal(trace_attach(&first, pid, pid), 0);
	assert_int_equal(trace_attach(&second, pid, tid), 0);
	trace_interrupt(&first);
	trace_interrupt(&second);
	begin_stop();
	assert_true(trace_wait(&trace, &first));
	assert_true(trace_wait(&trace, &second));
	kill(pid, SIGKILL);
	wait_for_state(pid, 'Z');
	trace_begin(&trace, 2);
	trace_release(&trace, &first);
	begin_stop();
	trace_release(&trace, &second);
	trace_end(&trace);
	assert_int_equal(trace_late_count(&trace), 0);
	assert_int_equal(waitpid(pid, NULL, __WALL | WNOHANG), -1);
	close(fds[0]);
	close(fds[1]);
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
		cmocka_unit_test(one_that_executes_a_program_is_found_by_its_new_id),
		cmocka_unit_test(one_that_is_late_and_executes_a_program_is_found),
		cmocka_unit_test(a_process_that_dies_while_it_is_stopped_is_forgotten),
	};

	alarm(300);
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
