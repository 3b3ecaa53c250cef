/* SPDX-License-Identifier: BSD-3-Clause */

/* The replacements for functions that older C libraries lack, also tested on newer ones.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compat.h"

#define MS 1000000ull

static struct timespec in(uint64_t ns)
{
	uint64_t time = clock_monotonic() + ns;

	return (struct timespec){(time_t)(time / NS_PER_S), (long)(time % NS_PER_S)};
}

static void random_numbers_differ(void **state)
{
	uint64_t one = 0, other = 0;

	(void)state;
	assert_int_equal(compat_getrandom(&one, sizeof(one), 0), sizeof(one));
	assert_int_equal(compat_getrandom(&other, sizeof(other), 0), sizeof(other));
	assert_int_not_equal(one, other);
}

static void random_numbers_need_no_open_file(void **state)
{
	const struct rlimit none = {0, 0};
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		uint64_t number;

		setrlimit(RLIMIT_NOFILE, &none);
		_exit(compat_getrandom(&number, sizeof(number), 0) != sizeof(number));
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void a_file_in_memory_holds_what_is_written(void **state)
{
	int fd = compat_memfd_create("test", 1);
	char found[4] = "";

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(pwrite(fd, "abc", 3, 100), 3);
	assert_int_equal(pread(fd, found, 3, 100), 3);
	assert_string_equal(found, "abc");
	close(fd);
}

static void only_files_in_the_range_are_closed(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		/* Open more files than fit into one read of the list. */
		for (int fd = 100; fd < 900; fd++)
			if (dup2(0, fd) != fd)
				_exit(1);
		if (compat_close_range(101, 898, 0) < 0)
			_exit(2);
		for (int fd = 100; fd < 900; fd++)
			if ((fcntl(fd, F_GETFD) >= 0) != (fd == 100 || fd == 899))
				_exit(3);
		if (compat_close_range(100, ~0u, 0) < 0 || fcntl(899, F_GETFD) >= 0)
			_exit(4);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void waits_end_at_their_deadline(void **state)
{
	uint64_t begun = clock_monotonic();
	struct timespec until = in(20 * MS);
	pthread_mutex_t mutex;
	sem_t semaphore;

	(void)state;
	sem_init(&semaphore, 0, 1);
	pthread_mutex_init(&mutex, NULL);
	assert_int_equal(compat_sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), 0);
	assert_int_equal(compat_sem_clockwait(&semaphore, CLOCK_MONOTONIC, &until), -1);
	assert_int_equal(errno, ETIMEDOUT);
	assert_true(clock_monotonic() - begun >= 19 * MS);

	until = in(20 * MS);
	begun = clock_monotonic();
	assert_int_equal(compat_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until), 0);
	assert_int_equal(compat_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &until),
			 ETIMEDOUT);
	assert_true(clock_monotonic() - begun >= 19 * MS);
	pthread_mutex_unlock(&mutex);
	sem_destroy(&semaphore);
}

static void *wait_for(void *semaphore)
{
	sem_wait(semaphore);
	return semaphore;
}

static void joining_a_thread_ends_at_the_deadline(void **state)
{
	struct timespec until = in(20 * MS);
	pthread_t thread;
	sem_t semaphore;
	void *result;

	(void)state;
	sem_init(&semaphore, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, wait_for, &semaphore), 0);
	assert_int_equal(compat_clockjoin(thread, &result, CLOCK_MONOTONIC, &until),
			 ETIMEDOUT);
	sem_post(&semaphore);
	until = in(60 * NS_PER_S);
	assert_int_equal(compat_clockjoin(thread, &result, CLOCK_MONOTONIC, &until), 0);
	assert_ptr_equal(result, &semaphore);
	sem_destroy(&semaphore);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_numbers_differ),
		cmocka_unit_test(random_numbers_need_no_open_file),
		cmocka_unit_test(a_file_in_memory_holds_what_is_written),
		cmocka_unit_test(only_files_in_the_range_are_closed),
		cmocka_unit_test(waits_end_at_their_deadline),
		cmocka_unit_test(joining_a_thread_ends_at_the_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
