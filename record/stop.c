/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/stop.h"

#include <signal.h>

#include "base/clock.h"
#include "command/message.h"

void stop_here(struct subject *const *subjects, size_t count)
{
	uint64_t began = clock_monotonic();

	for (size_t i = 0; i < count; i++) {
		struct guest *guest = subjects[i]->target.guest;

		if (guest->ops->rest)
			guest->ops->rest(guest);
	}
	raise(SIGSTOP);
	message("record", "stopped for %.1f s, without samples",
		(double)(clock_monotonic() - began) / NS_PER_S);
}

void stop_ended(struct subject *const *subjects, size_t count)
{
	uint64_t now = clock_monotonic();

	for (size_t i = 0; i < count; i++) {
		sampler_forget_cpu_times(subjects[i]->target.sampler);
		pacer_skip(&subjects[i]->pacer, now);
	}
}
