/* SPDX-License-Identifier: BSD-3-Clause */

/* What Landlock refuses, by its version in this kernel. Each test restricts a child
 * process, because restrictions can't be removed. */

#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/safety/privileges.h"

static char devices[] = "/tmp/uniprof-privileges-XXXXXX";
static char device[sizeof(devices) + 8], other[sizeof(devices) + 8];

/* Ends the child, which can't use cmocka, with the number of the line. */
#define CHECK(condition)                           \
	do {                                       \
		if (!(condition))                  \
			_exit(__LINE__ % 250 + 1); \
	} while (0)

#define FAILS(call, number) (errno = 0, (call) == -1 && errno == (number))

static void make_file(const char *path)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fclose(file), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(devices))
		return -1;
	snprintf(device, sizeof(device), "%s/device", devices);
	snprintf(other, sizeof(other), "%s.other", devices);
	make_file(device);
	make_file(other);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(device) | unlink(other) | rmdir(devices);
}

/* Runs a child that returns the version of Landlock. Without Landlock, the test is
 * skipped. */
static void run_child(int (*child)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child() ? 0 : 255);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 255)
		skip();
	assert_int_equal(status, 0);
}

static int no_file(void)
{
	int version = privileges_confine(&(struct privileges){.signals = true});

	CHECK(prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1);
	if (!version)
		return 0;
	CHECK(FAILS(open(other, O_RDONLY), EACCES));
	CHECK(FAILS(open(device, O_RDWR), EACCES));
	CHECK(FAILS(open("/proc/self/maps", O_RDONLY), EACCES));
	CHECK(FAILS(open("/proc", O_RDONLY | O_DIRECTORY), EACCES));
	CHECK(FAILS(unlink(other), EACCES));
	CHECK(FAILS(execl("/bin/true", "true", (char *)NULL), EACCES));
	CHECK(kill(getppid(), 0) == 0);
	return version;
}

static void a_guard_opens_no_files_but_signals_its_recorder(void **state)
{
	(void)state;
	run_child(no_file);
}

static int only_devices(void)
{
	char created[sizeof(device) + 8];
	int was_open = open(other, O_RDWR);
	int version = privileges_confine(&(struct privileges){.devices = devices});

	if (!version)
		return 0;
	snprintf(created, sizeof(created), "%s.new", device);
	CHECK(FAILS(open(other, O_RDONLY), EACCES));
	CHECK(open(device, O_RDWR) >= 0);
	CHECK(FAILS(open(created, O_RDWR | O_CREAT, 0600), EACCES));
	CHECK(FAILS(unlink(device), EACCES));
	if (version >= 3)
		CHECK(FAILS(truncate(device, 0), EACCES));
	/* Open files stay usable. */
	CHECK(write(was_open, "x", 1) == 1);
	CHECK(ftruncate(was_open, 0) == 0);
	return version;
}

static void a_follower_opens_only_devices(void **state)
{
	(void)state;
	run_child(only_devices);
}

static int only_some_files(void)
{
	const char *const reads[] = {device, "/no/such/file"};
	int version = privileges_confine(
		&(struct privileges){.reads = reads, .read_count = 2});

	if (!version)
		return 0;
	CHECK(open(device, O_RDONLY) >= 0);
	CHECK(FAILS(open(device, O_RDWR), EACCES));
	CHECK(FAILS(open(other, O_RDONLY), EACCES));
	CHECK(FAILS(unlink(device), EACCES));
	return version;
}

static void a_finder_opens_only_some_files(void **state)
{
	(void)state;
	run_child(only_some_files);
}

/* Makes requests like the recorder's, of devices opened before and after. */
static int ioctls(void)
{
	int count, early = open("/dev/zero", O_RDWR), late;
	int version = privileges_confine(&(struct privileges){.devices = "/dev"});

	if (!version)
		return 0;
	late = open("/dev/zero", O_RDWR);
	CHECK(FAILS(ioctl(early, TIOCGWINSZ, &count), ENOTTY));
	CHECK(FAILS(ioctl(late, TIOCGWINSZ, &count), ENOTTY));
	return version;
}

static void ioctls_reach_devices(void **state)
{
	(void)state;
	run_child(ioctls);
}

static void *raise_one(void *context)
{
	(void)context;
	return (void *)(intptr_t)(raise(SIGCONT) == 0);
}

static int no_signals_or_sockets(void)
{
	struct sockaddr_in tcp = {.sin_family = AF_INET};
	struct sockaddr_un abstract = {.sun_family = AF_UNIX, .sun_path = "\0uniprof"};
	int version, outside = socket(AF_UNIX, SOCK_DGRAM, 0);
	int local = socket(AF_INET, SOCK_STREAM, 0);
	pthread_t thread;
	void *raised;

	snprintf(abstract.sun_path + 1, sizeof(abstract.sun_path) - 1, "%s", devices);
	CHECK(bind(outside, (void *)&abstract, sizeof(abstract)) == 0);
	version = privileges_confine(&(struct privileges){0});
	if (!version)
		return 0;
	if (version >= 4)
		CHECK(FAILS(bind(local, (void *)&tcp, sizeof(tcp)), EACCES));
	tcp.sin_port = htons(9);
	tcp.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (version >= 4)
		CHECK(FAILS(connect(local, (void *)&tcp, sizeof(tcp)), EACCES));
	if (version >= 6) {
		CHECK(FAILS(kill(getppid(), 0), EPERM));
		CHECK(FAILS(connect(socket(AF_UNIX, SOCK_DGRAM, 0), (void *)&abstract,
				    sizeof(abstract)),
			    EPERM));
	}
	/* A process may signal itself, as on Ctrl-Z. */
	CHECK(raise(SIGCONT) == 0);
	CHECK(pthread_create(&thread, NULL, raise_one, NULL) == 0);
	CHECK(pthread_join(thread, &raised) == 0 && raised);
	return version;
}

static void a_recorder_reaches_no_other_processes(void **state)
{
	(void)state;
	run_child(no_signals_or_sockets);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_guard_opens_no_files_but_signals_its_recorder),
		cmocka_unit_test(a_follower_opens_only_devices),
		cmocka_unit_test(a_finder_opens_only_some_files),
		cmocka_unit_test(ioctls_reach_devices),
		cmocka_unit_test(a_recorder_reaches_no_other_processes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
