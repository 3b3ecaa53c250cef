/* SPDX-License-Identifier: BSD-3-Clause */
/* ThreadSanitizer of GCC 12 does not know the functions that wait up to a moment of a
 * clock of choice, and would report races where there are none. It knows the functions
 * that wait up to a moment of CLOCK_REALTIME. */
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#define SECOND 1000000000ll

static long long nanoseconds(const struct timespec *time)
{
	return time->tv_sec * SECOND + time->tv_nsec;
}

static struct timespec in_real_time(clockid_t clock, const struct timespec *end)
{
	struct timespec now, real;
	long long moment;

	clock_gettime(clock, &now);
	clock_gettime(CLOCK_REALTIME, &real);
	moment = nanoseconds(&real) + nanoseconds(end) - nanoseconds(&now);
	return (struct timespec){.tv_sec = moment / SECOND, .tv_nsec = moment % SECOND};
}

int pthread_clockjoin_np(pthread_t thread, void **result, clockid_t clock,
			 const struct timespec *end)
{
	struct timespec real = in_real_time(clock, end);

	return pthread_timedjoin_np(thread, result, &real);
}

int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *end)
{
	struct timespec real = in_real_time(clock, end);

	return sem_timedwait(semaphore, &real);
}
