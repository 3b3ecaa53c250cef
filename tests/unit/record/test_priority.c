/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/safety/priority.h"
#include "record/safety/privileges.h"

#define START 987654321000ull
#define MS    1000000ull

static void a_busy_thread_leaves_a_sixteenth_of_the_cpu(void **state)
{
	uint64_t now = START, used = 42, rested = 0, longest = 0;
	struct share share = {0};

	(void)state;
	share_rest_of(&share, now, used);
	while (now < START + 10 * NS_PER_S) {
		uint64_t until;

		/* The thread works for at least 46.9 ms, in rounds of any length. */
		now += 48 * MS;
		used += 48 * MS;
		until = share_rest_of(&share, now, used);
		assert_true(until > now);
		rested += until - now;
		if (until - now > longest)
			longest = until - now;
		now = until;
	}
	assert_in_range(rested, NS_PER_S * 10 / 16, NS_PER_S * 10 / 16 + 10 * MS);
	assert_true(longest < 4 * MS);
}

static void a_thread_that_sleeps_enough_is_not_delayed(void **state)
{
	struct share share = {0};

	(void)state;
	share_rest_of(&share, START, 0);
	for (uint64_t i = 1; i < 100; i++)
		assert_int_equal(share_rest_of(&share, START + i * 50 * MS, i * 46 * MS),
				 0);
}

/* Earlier CPU time of others does not count: they must keep needing it. */
static void idle_time_gives_no_credit(void **state)
{
	struct share share = {0};
	uint64_t now = START + 10 * NS_PER_S;

	(void)state;
	share_rest_of(&share, START, 0);
	assert_int_equal(share_rest_of(&share, now, MS), 0);
	assert_in_range(share_rest_of(&share, now + 90 * MS, 91 * MS), now + 95 * MS,
			now + 97 * MS);
}

static void the_share_is_checked_every_50_ms(void **state)
{
	struct share share = {0};
	uint64_t now = clock_monotonic(), used, until = 0;

	(void)state;
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	share_rest_of(&share, now, used);
	assert_int_equal(share_rest(&share, now + 49 * MS), 0);
	assert_int_equal(share.since, now);
	/* This process has been working all the time. */
	while (clock_ns(CLOCK_PROCESS_CPUTIME_ID) < used + 60 * MS)
		;
	until = share_rest(&share, now + 60 * MS);
	assert_true(until >= now + 64 * MS);
}

static void *work(void *done)
{
	while (!__atomic_load_n((bool *)done, __ATOMIC_RELAXED))
		;
	return NULL;
}

/* The other thread takes nothing from the share: it has no priority. */
static void a_thread_without_priority_does_not_count(void **state)
{
	struct share share = {0}, all = {0};
	uint64_t now = clock_monotonic(), used;
	pthread_t thread;
	clockid_t clock;
	bool done = false;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, work, &done), 0);
	assert_int_equal(pthread_getcpuclockid(thread, &clock), 0);
	share.usual = &clock;
	assert_int_equal(share_rest(&share, now), 0);
	assert_int_equal(share_rest(&all, now), 0);
	/* The thread has been working for an unknown time. */
	used = clock_ns(clock);
	while (clock_ns(clock) < used + 60 * MS)
		usleep(1000);
	assert_int_equal(share_rest(&share, now + 50 * MS), 0);
	assert_true(share_rest(&all, now + 50 * MS) > now + 60 * MS);
	__atomic_store_n(&done, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
}

/* Runs in a child, which can't get its capabilities back. */
static void a_priority_can_be_given_up_without_capabilities(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		priority_set(PRIORITY_SAMPLER);
		privileges_drop(KEEP_NOTHING);
		priority_set(PRIORITY_USUAL);
		_exit((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_busy_thread_leaves_a_sixteenth_of_the_cpu),
		cmocka_unit_test(a_thread_that_sleeps_enough_is_not_delayed),
		cmocka_unit_test(idle_time_gives_no_credit),
		cmocka_unit_test(the_share_is_checked_every_50_ms),
		cmocka_unit_test(a_thread_without_priority_does_not_count),
		cmocka_unit_test(a_priority_can_be_given_up_without_capabilities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
