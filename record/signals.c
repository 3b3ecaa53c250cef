/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/signals.h"

#include <errno.h>

#include "base/clock.h"

void signals_block(sigset_t *signals)
{
	struct sigaction was;

	/* SIGCHLD only for ends of children, not for stops of traced threads. */
	sigaction(SIGCHLD,
		  &(struct sigaction){.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP},
		  NULL);
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGQUIT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGTSTP);
	sigaddset(signals, SIGCONT);
	sigaddset(signals, SIGCHLD);
	if (sigaction(SIGHUP, NULL, &was) < 0 || was.sa_handler != SIG_IGN)
		sigaddset(signals, SIGHUP);
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
