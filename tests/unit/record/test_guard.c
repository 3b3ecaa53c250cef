/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A paused guest resumes if its recorder ends or is stopped. The hypervisor is a fake
 * whose guest is a word in shared memory, so that a recorder can be killed in the middle
 * of a pause every time, which with real Xen is possible in the lab only.
 */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/safety/guard.h"

#define MS 1000000ull

/* Bytes of memory that take a while to free when the recorder ends, like mapped guest
 * pages */
#define BALLAST (128u << 20)

struct fake {
	uint64_t paused;  /* since when, ns, monotonic; 0: the guest runs */
	uint64_t ended;	  /* when the recorder was about to end */
	uint64_t resumed; /* when the guard let the guest run */
	int stops;	  /* number of samples that the recorder ended itself */
	char line[200];	  /* the guard's message */
};

static struct fake *fake;

static int arm(struct host *host, struct error *err)
{
	(void)host;
	(void)err;
	return 0;
}

static uint64_t paused_since(const struct host *host)
{
	(void)host;
	return __atomic_load_n(&fake->paused, __ATOMIC_SEQ_CST);
}

static int resume(struct host *host, struct error *err)
{
	(void)host;
	(void)err;
	fake->resumed = clock_monotonic();
	__atomic_store_n(&fake->paused, 0, __ATOMIC_SEQ_CST);
	return 0;
}

static void note_message(const char *line)
{
	snprintf(fake->line, sizeof(fake->line), "%s", line);
}

static const struct host_needs needs_nothing = {0};

static const struct host_ops fake_ops = {
	.needs = &needs_nothing,
	.arm = arm,
	.adopt = arm,
	.paused_since = paused_since,
	.resume = resume,
};

static int set_up(void **state)
{
	(void)state;
	fake = mmap(NULL, sizeof(*fake), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return fake == MAP_FAILED ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(fake, sizeof(*fake));
}

static void sleep_ns(uint64_t ns)
{
	nanosleep(&(struct timespec){0, (long)ns}, NULL);
}

/* Starts a recorder that allocates @ballast bytes, pauses its guest and then calls
 * @then. */
static pid_t start_recorder(size_t ballast, void (*then)(void))
{
	static struct host host = {.ops = &fake_ops};
	pid_t recorder = fork();

	assert_true(recorder >= 0);
	if (recorder)
		return recorder;
	if (ballast &&
	    mmap(NULL, ballast, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) == MAP_FAILED)
		_exit(1);
	if (!guard_start(&host, note_message, &(struct error){0}))
		_exit(1);
	__atomic_store_n(&fake->paused, clock_monotonic(), __ATOMIC_SEQ_CST);
	then();
	for (;;)
		pause();
}

static bool runs_within(uint64_t ns)
{
	uint64_t until = clock_monotonic() + ns;

	while (__atomic_load_n(&fake->paused, __ATOMIC_SEQ_CST)) {
		if (clock_monotonic() > until)
			return false;
		sleep_ns(MS / 10);
	}
	return true;
}

static void wait_for_pause(void)
{
	while (!__atomic_load_n(&fake->paused, __ATOMIC_SEQ_CST))
		sleep_ns(MS / 10);
}

static void be_killed(void)
{
	fake->ended = clock_monotonic();
	kill(getpid(), SIGKILL);
}

static void crash(void)
{
	const struct rlimit unlimited = {RLIM_INFINITY, RLIM_INFINITY};

	signal(SIGSEGV, SIG_DFL); /* cmocka has a handler */
	setrlimit(RLIMIT_CORE, &unlimited);
	fake->ended = clock_monotonic();
	raise(SIGSEGV);
}

static void go_on(void)
{
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the median of several runs, because other work on the machine may delay one. */
static uint64_t time_to_resume(void (*end)(void))
{
	uint64_t took[5];

	for (size_t i = 0; i < 5; i++) {
		pid_t recorder = start_recorder(BALLAST, end);

		waitpid(recorder, NULL, 0);
		assert_true(runs_within(5000 * MS));
		took[i] = fake->resumed - fake->ended;
	}
	qsort(took, 5, sizeof(*took), compare);
	print_message("the guest ran again after %.2f ms (median), %.2f ms (longest)\n",
		      (double)took[2] / MS, (double)took[4] / MS);
	return took[2];
}

static void the_guest_runs_before_a_killed_recorders_memory_is_freed(void **state)
{
	(void)state;
	assert_true(time_to_resume(be_killed) < 5 * MS);
}

static void a_crash_dumps_no_core_while_the_guest_is_paused(void **state)
{
	char directory[] = "/tmp/uniprof-guard-XXXXXX", back[4096];
	uint64_t took;

	(void)state;
	assert_non_null(getcwd(back, sizeof(back)));
	assert_non_null(mkdtemp(directory));
	assert_int_equal(chdir(directory), 0);
	took = time_to_resume(crash);
	assert_int_equal(chdir(back), 0);
	/* The directory is empty: there is no core. */
	assert_int_equal(rmdir(directory), 0);
	assert_true(took < 5 * MS);
}

static void finish_when_continued(int signal)
{
	(void)signal;
	fake->stops++;
	__atomic_store_n(&fake->paused, 0, __ATOMIC_SEQ_CST);
}

static void handle_continue(void)
{
	signal(SIGCONT, finish_when_continued);
}

static void a_stopped_recorder_finishes_its_sample_first(void **state)
{
	pid_t recorder = start_recorder(0, handle_continue);
	int status;

	(void)state;
	wait_for_pause();
	sleep_ns(50 * MS);
	kill(recorder, SIGSTOP);
	assert_true(runs_within(2000 * MS));
	assert_int_equal(fake->stops, 1);
	/* The recorder is stopped again, as requested. */
	do
		assert_int_equal(waitpid(recorder, &status, WUNTRACED | WCONTINUED),
				 recorder);
	while (!WIFSTOPPED(status));
	kill(recorder, SIGKILL);
	waitpid(recorder, NULL, 0);
}

/* Stops a recorder in a sample that never ends, and kills it @delay ns later. Returns how
 * long the guest stayed paused after that, ns. */
static uint64_t time_of_kill(uint64_t delay)
{
	pid_t recorder = start_recorder(0, go_on);

	fake->stops = 0;
	wait_for_pause();
	sleep_ns(50 * MS);
	kill(recorder, SIGSTOP);
	sleep_ns(delay);
	fake->ended = clock_monotonic();
	kill(recorder, SIGKILL);
	waitpid(recorder, NULL, 0);
	assert_true(runs_within(5000 * MS));
	return fake->resumed - fake->ended;
}

/* The guard continues the recorder repeatedly. Each moment is tried three times, because
 * other work on the machine may delay one. */
static void a_kill_during_a_deferred_stop_is_noticed_at_once(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 5; i++) {
		uint64_t delay = (80 + 45 * i) * MS, tries = 1;

		while (time_of_kill(delay) >= 100 * MS)
			assert_true(tries++ < 3);
	}
}

/* A recorder that hangs in a sample, stopped or not, is killed. */
static void check_limit(void (*hang)(void), bool is_stopped)
{
	pid_t recorder = start_recorder(0, hang);
	uint64_t began;
	int status;

	wait_for_pause();
	began = fake->paused;
	if (is_stopped)
		kill(recorder, SIGSTOP);
	assert_true(runs_within(10000 * MS));
	waitpid(recorder, &status, 0);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	print_message("the guest ran again after %.0f ms\n",
		      (double)(fake->resumed - began) / MS);
	assert_true(fake->resumed - began >= PAUSE_LIMIT);
	assert_string_equal(fake->line,
			    "a pause did not end within 1 s: the recorder was "
			    "killed, so that the guest runs");
}

static void a_pause_that_does_not_end_ends_the_recorder(void **state)
{
	(void)state;
	check_limit(go_on, false);
}

static void a_stopped_recorder_whose_pause_does_not_end_is_killed(void **state)
{
	(void)state;
	check_limit(go_on, true);
}

static void restart_pause_for_ever(void)
{
	for (;;) {
		__atomic_store_n(&fake->paused, clock_monotonic(), __ATOMIC_SEQ_CST);
		sleep_ns(MS);
	}
}

static void many_short_pauses_do_not_end_the_recorder(void **state)
{
	pid_t recorder = start_recorder(0, restart_pause_for_ever);

	(void)state;
	sleep_ns(900 * MS);
	sleep_ns(900 * MS);
	assert_int_equal(waitpid(recorder, NULL, WNOHANG), 0);
	kill(recorder, SIGKILL);
	waitpid(recorder, NULL, 0);
	assert_true(runs_within(5000 * MS));
}

/* A thread that stops late is no pause. */
static void hold_late(void)
{
	__atomic_store_n(&fake->paused, HOLDS_LATE, __ATOMIC_SEQ_CST);
}

static void a_late_thread_does_not_end_the_recorder(void **state)
{
	pid_t recorder = start_recorder(0, hold_late);

	(void)state;
	sleep_ns(900 * MS);
	sleep_ns(900 * MS);
	assert_int_equal(waitpid(recorder, NULL, WNOHANG), 0);
	kill(recorder, SIGKILL);
	waitpid(recorder, NULL, 0);
	assert_true(runs_within(5000 * MS));
}

/* The test runs in a separate process, which can then no longer dump core or be
 * traced. */
static void a_guard_that_is_no_longer_needed_exits(void **state)
{
	static struct host host = {.ops = &fake_ops};
	pid_t recorder = fork();
	struct guard *guard;
	struct error err;
	int status;

	(void)state;
	assert_true(recorder >= 0);
	if (recorder == 0) {
		guard = guard_start(&host, NULL, &err);
		if (!guard || !guard_alive(guard))
			_exit(1);
		guard_stop(guard);
		_exit(waitpid(-1, NULL, WNOHANG) != -1);
	}
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
	assert_int_equal(fake->resumed, 0);
}

/* Returns the only child of this process (proc(5), /proc/PID/task/TID/children). */
static pid_t only_child(void)
{
	char path[64];
	pid_t child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	file = fopen(path, "r");
	if (file && fscanf(file, "%d", &child) != 1)
		child = 0;
	if (file)
		fclose(file);
	return child;
}

static bool watches_within(const struct guard *guard, bool watches, uint64_t ns)
{
	uint64_t until = clock_monotonic() + ns;

	while (guard_watches(guard) != watches) {
		if (clock_monotonic() > until)
			return false;
		sleep_ns(MS);
	}
	return true;
}

/* Returns the number of the step that fails; 0: none does. */
static int stop_the_guard(void)
{
	static struct host host = {.ops = &fake_ops};
	struct guard *guard = guard_start(&host, NULL, &(struct error){0});
	pid_t child = only_child();

	if (!guard || !child)
		return 1;
	if (!watches_within(guard, true, 5000 * MS))
		return 2;
	kill(child, SIGSTOP);
	if (!watches_within(guard, false, 5000 * MS))
		return 3;
	kill(child, SIGCONT);
	if (!watches_within(guard, true, 5000 * MS))
		return 4;
	kill(child, SIGSTOP);
	if (!watches_within(guard, false, 5000 * MS))
		return 5;
	/* This does not wait for the guard. */
	guard_stop(guard);
	kill(child, SIGCONT);
	return waitpid(child, NULL, 0) == child ? 0 : 6;
}

static void a_guard_that_is_stopped_does_not_watch(void **state)
{
	pid_t recorder = fork();
	int status;

	(void)state;
	assert_true(recorder >= 0);
	if (recorder == 0)
		_exit(stop_the_guard());
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	assert_int_equal(status, 0);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			the_guest_runs_before_a_killed_recorders_memory_is_freed, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_crash_dumps_no_core_while_the_guest_is_paused, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_stopped_recorder_finishes_its_sample_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_kill_during_a_deferred_stop_is_noticed_at_once, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(
			a_pause_that_does_not_end_ends_the_recorder, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			a_stopped_recorder_whose_pause_does_not_end_is_killed, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(many_short_pauses_do_not_end_the_recorder,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_late_thread_does_not_end_the_recorder,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_guard_that_is_no_longer_needed_exits,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_guard_that_is_stopped_does_not_watch,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
