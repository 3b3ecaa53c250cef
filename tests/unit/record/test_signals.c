/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/clock.h"
#include "record/signals.h"

#define US 1000ull

static void note_often(struct signals_waits *waits, uint64_t late)
{
	for (unsigned int i = 0; i < 64; i++)
		signals_note_late(waits, late);
}

static void a_wait_is_not_slept_if_sleeps_end_too_late_for_it(void **state)
{
	struct signals_waits waits = {0};

	(void)state;
	assert_false(signals_spins(&waits, 1));
	note_often(&waits, 40 * US);
	assert_true(signals_spins(&waits, 75 * US));
	assert_false(signals_spins(&waits, 85 * US));
	note_often(&waits, 5 * US);
	assert_true(signals_spins(&waits, 8 * US));
	assert_false(signals_spins(&waits, 12 * US));
}

static void a_stall_of_the_host_hardly_counts(void **state)
{
	struct signals_waits waits = {0};

	(void)state;
	note_often(&waits, 5 * US);
	signals_note_late(&waits, NS_PER_S);
	assert_false(signals_spins(&waits, 40 * US));
	note_often(&waits, NS_PER_S);
	assert_true(signals_spins(&waits, SIGNALS_SPIN_NS));
	assert_false(signals_spins(&waits, SIGNALS_SPIN_NS + 1));
}

static void no_wait_ends_early(void **state)
{
	struct signals_waits waits = {.late = 50 * US};
	sigset_t none;

	(void)state;
	sigemptyset(&none);
	for (unsigned int i = 0; i < 200; i++) {
		uint64_t time = clock_monotonic() + i * US;

		assert_int_equal(signals_wait(&waits, &none, time), 0);
		assert_true(clock_monotonic() >= time);
	}
}

/* Blocks SIGUSR1, sends it, and returns the set that has it. */
static sigset_t pending_signal(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	raise(SIGUSR1);
	return signals;
}

static void signals_are_asked_for_now_and_then(void **state)
{
	struct signals_waits waits = {.late = 50 * US};
	const sigset_t signals = pending_signal();

	(void)state;
	waits.asked = clock_monotonic() - SIGNALS_LATE_NS;
	assert_int_equal(signals_wait(&waits, &signals, clock_monotonic() + 20 * US),
			 SIGUSR1);
	assert_int_equal(signals_wait(&waits, &signals, clock_monotonic()), 0);

	/* Late, but not by a sleep */
	assert_int_equal(waits.late, 50 * US);
}

/* SIGSTOP and SIGCONT during a wait that is spent reading the clock take long, too. */
static void signals_are_asked_for_after_a_spin_that_ends_late(void **state)
{
	struct signals_waits waits = {.late = SIGNALS_SPIN_NS};
	const sigset_t signals = pending_signal();
	uint64_t now = clock_monotonic();

	(void)state;
	waits.asked = now - SIGNALS_LATE_NS + 40 * US;
	assert_int_equal(signals_wait(&waits, &signals, now + SIGNALS_SPIN_NS), SIGUSR1);
}

static void *effect_of(int number)
{
	struct sigaction now;

	sigaction(number, NULL, &now);
	return now.sa_handler;
}

/* As a shell's background job under nohup has them */
static void ignored_signals_end_a_recording_but_hangup(void **state)
{
	sigset_t ends;

	(void)state;
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	ends = signals_ends();
	signals_set(&ends, SIG_DFL);
	assert_ptr_equal(effect_of(SIGINT), SIG_DFL);
	assert_ptr_equal(effect_of(SIGQUIT), SIG_DFL);
	assert_ptr_equal(effect_of(SIGHUP), SIG_IGN);
	assert_ptr_equal(effect_of(SIGPIPE), SIG_IGN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_wait_is_not_slept_if_sleeps_end_too_late_for_it),
		cmocka_unit_test(a_stall_of_the_host_hardly_counts),
		cmocka_unit_test(no_wait_ends_early),
		cmocka_unit_test(signals_are_asked_for_now_and_then),
		cmocka_unit_test(signals_are_asked_for_after_a_spin_that_ends_late),
		cmocka_unit_test(ignored_signals_end_a_recording_but_hangup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
