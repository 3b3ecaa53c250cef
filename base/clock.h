/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef UNIPROF_BASE_CLOCK_H
#define UNIPROF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_S  1000000000ull
#define NS_PER_US 1000ull

static inline uint64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_monotonic(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/* The CPU time of the calling thread, ns. */
static inline uint64_t clock_thread(void)
{
	return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
