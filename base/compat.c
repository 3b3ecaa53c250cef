/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/compat.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

ssize_t compat_getrandom(void *data, size_t size, unsigned int flags)
{
	ssize_t length = syscall(SYS_getrandom, data, size, flags);
	int fd;

	/* Prefer the system call: a recorder may not open files. */
	if (length >= 0 || errno != ENOSYS)
		return length;
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	length = read(fd, data, size);
	close(fd);
	return length;
}

int compat_memfd_create(const char *name, unsigned int flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

int compat_close_range(unsigned int first, unsigned int last, int flags)
{
	DIR *folder = opendir("/proc/self/fd");
	const struct dirent *entry;

	(void)flags;
	if (!folder)
		return -1;
	while ((entry = readdir(folder))) {
		char *end;
		unsigned long fd = strtoul(entry->d_name, &end, 10);

		if (end != entry->d_name && !*end && fd >= first && fd <= last &&
		    fd != (unsigned long)dirfd(folder))
			close((int)fd);
	}
	return closedir(folder);
}

/* Converts @until, a time of @clock, to the wall clock. */
static struct timespec wall_time(clockid_t clock, const struct timespec *until)
{
	uint64_t now = clock_ns(clock);
	uint64_t then = (uint64_t)until->tv_sec * NS_PER_S + (uint64_t)until->tv_nsec;
	uint64_t wall = clock_ns(CLOCK_REALTIME) + (then > now ? then - now : 0);

	return (struct timespec){(time_t)(wall / NS_PER_S), (long)(wall % NS_PER_S)};
}

int compat_sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until)
{
	const struct timespec wall = wall_time(clock, until);

	return sem_timedwait(semaphore, &wall);
}

int compat_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock,
			   const struct timespec *until)
{
	const struct timespec wall = wall_time(clock, until);

	return pthread_mutex_timedlock(mutex, &wall);
}

int compat_clockjoin(pthread_t thread, void **result, clockid_t clock,
		     const struct timespec *until)
{
	const struct timespec wall = wall_time(clock, until);

	return pthread_timedjoin_np(thread, result, &wall);
}
