/* SPDX-License-Identifier: BSD-3-Clause */
#include "record/stop.h"

#include <signal.h>

#include "base/clock.h"
#include "record/signals.h"

/* Time between two looks whether all guests rest, ns */
#define LOOK_NS (NS_PER_S / 200)

bool stop_rest(struct subject *const *subjects, size_t count)
{
	bool all = true;

	for (size_t i = 0; i < count; i++) {
		struct guest *guest = subjects[i]->target.guest;

		if (guest->ops->rest && !guest->ops->rest(guest))
			all = false;
	}
	return all;
}

/* Waits a moment for a signal that ends the recorder. True if a signal came, which stays
 * pending. */
static bool is_ended(void)
{
	const struct timespec moment = {0, LOOK_NS};
	const sigset_t ends = signals_ends();
	int number;

	number = sigtimedwait(&ends, NULL, &moment);
	if (number > 0)
		raise(number);
	return number > 0;
}

uint64_t stop_here(struct subject *const *subjects, size_t count)
{
	uint64_t began = clock_monotonic();

	while (!stop_rest(subjects, count))
		if (is_ended())
			return 0;
	raise(SIGSTOP);
	return clock_monotonic() - began;
}

void stop_ended(struct subject *const *subjects, size_t count)
{
	uint64_t now = clock_monotonic();

	for (size_t i = 0; i < count; i++) {
		sampler_forget_cpu_times(subjects[i]->target.sampler);
		pacer_skip(&subjects[i]->pacer, now);
	}
}
