/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/signals.h"

#include <errno.h>

#include "base/clock.h"

sigset_t signals_ends(void)
{
	struct sigaction was;
	sigset_t ends;

	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGQUIT);
	sigaddset(&ends, SIGTERM);
	if (sigaction(SIGHUP, NULL, &was) < 0 || was.sa_handler != SIG_IGN)
		sigaddset(&ends, SIGHUP);
	return ends;
}

void signals_set(const sigset_t *signals, void (*effect)(int))
{
	for (int number = 1; number < NSIG; number++)
		if (sigismember(signals, number) == 1)
			signal(number, effect);
}

void signals_block(sigset_t *signals)
{
	/* SIGCHLD only for ends of children, not for stops of traced threads. */
	sigaction(SIGCHLD,
		  &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP},
		  NULL);
	*signals = signals_ends();
	sigaddset(signals, SIGTSTP);
	sigaddset(signals, SIGCONT);
	sigaddset(signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, signals, NULL);
}

/* The average changes by this part of the difference from a new value. */
#define LATE_PART 8

bool signals_spins(const struct signals_waits *waits, uint64_t left)
{
	return left <= SIGNALS_SPIN_NS && left <= 2 * waits->late;
}

void signals_note_late(struct signals_waits *waits, uint64_t late)
{
	/* Of a sleep during a stall of the host, only this much counts. */
	if (late > SIGNALS_SPIN_NS)
		late = SIGNALS_SPIN_NS;
	waits->late -= waits->late / LATE_PART;
	waits->late += late / LATE_PART;
}

static void spin_until(uint64_t time)
{
	while (clock_monotonic() < time) {
#if defined(__i386__) || defined(__x86_64__)
		__builtin_ia32_pause();
#endif
	}
}

static int sleep_until(const sigset_t *signals, uint64_t time)
{
	for (;;) {
		uint64_t now = clock_monotonic();
		uint64_t left = time > now ? time - now : 0;
		struct timespec timeout = {(time_t)(left / NS_PER_S),
					   (long)(left % NS_PER_S)};
		int number = sigtimedwait(signals, NULL, &timeout);

		if (number > 0)
			return number;
		if (errno == EAGAIN)
			return 0;
	}
}

int signals_wait(struct signals_waits *waits, const sigset_t *signals, uint64_t time)
{
	uint64_t now = clock_monotonic();
	int number;

	if (time > now && now - waits->asked < SIGNALS_LATE_NS &&
	    signals_spins(waits, time - now)) {
		spin_until(time);
		now = clock_monotonic();
	}
	/* Not after a spin in which this process was stopped. */
	if (time <= now && now - waits->asked < SIGNALS_LATE_NS)
		return 0;
	number = sleep_until(signals, time);
	waits->asked = clock_monotonic();
	if (!number && time > now)
		signals_note_late(waits, waits->asked - time);
	return number;
}
