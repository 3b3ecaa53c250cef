/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/safety/priority.h"

#include <sched.h>

#include "base/clock.h"

/* A process with priority may use at most MOST_USED / OUT_OF of each SHARE_NS */
#define SHARE_NS  (NS_PER_S / 20)
#define MOST_USED 15
#define OUT_OF	  16

void priority_set(enum priority priority)
{
	const struct sched_param param = {.sched_priority = (int)priority};
	int policy = priority == PRIORITY_USUAL ? SCHED_OTHER : SCHED_FIFO;

	/* SCHED_RESET_ON_FORK can't be removed without CAP_SYS_NICE. */
	sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param);
}

uint64_t share_rest_of(struct share *share, uint64_t now, uint64_t used)
{
	uint64_t end = share->since + (used - share->used) * OUT_OF / MOST_USED;

	share->since = end > now ? end : now;
	share->used = used;
	return end > now ? end : 0;
}

uint64_t share_rest(struct share *share, uint64_t now)
{
	uint64_t usual, used;

	if (now < share->since + SHARE_NS)
		return 0;
	usual = share->usual ? clock_ns(*share->usual) : 0;
	used = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - usual;
	/* The clocks are not read at the same time. */
	return share_rest_of(share, now, used > share->used ? used : share->used);
}
