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

int signals_wait(const sigset_t *signals, uint64_t time)
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
