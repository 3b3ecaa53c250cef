/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/priority.h"

#include <sched.h>

void priority_set(enum priority priority)
{
	const struct sched_param param = {.sched_priority = (int)priority};

	sched_setscheduler(0,
			   priority == PRIORITY_USUAL ? SCHED_OTHER
						      : SCHED_FIFO | SCHED_RESET_ON_FORK,
			   &param);
}
