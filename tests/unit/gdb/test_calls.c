/* SPDX-License-Identifier: BSD-3-Clause */

/* The system calls that the filters allow a recorder that uses a GDB stub, and its guard:
 * they may send and receive on the open connection, and open no other. */

#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "gdb/gdb.h"
#include "record/safety/filter.h"
#include "tests/unit/in_child.h"

static void check_ends(const int *ends)
{
	const struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "x"};
	char byte = 1;

	CHECK(send(ends[0], &byte, 1, MSG_NOSIGNAL) == 1);
	CHECK(recv(ends[1], &byte, 1, 0) == 1);
	CHECK(REFUSED(sendto(ends[0], &byte, 1, 0, (const struct sockaddr *)&name,
			     sizeof(name))));
	CHECK(REFUSED(socket(AF_UNIX, SOCK_STREAM, 0)));
	CHECK(REFUSED(connect(ends[0], (const struct sockaddr *)&name, sizeof(name))));
	CHECK(REFUSED(open("/dev/null", O_RDONLY)));
	CHECK(REFUSED(fork()));
}

static int run_child(bool guards)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		const struct filter_guard needed = {
			.recorder = getppid(), .pidfd = -1, .ready = -1};
		struct error err;
		struct host *host = gdb_open("unix:x", NULL, &err);
		int ends[2];

		CHECK(host && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
		if (guards)
			CHECK(filter_guard(host->ops->needs, &needed, &err) == 0);
		else
			CHECK(filter_recorder(host->ops->needs, false, -1, &err) == 0);
		check_ends(ends);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_recorder_has_only_its_connection(void **state)
{
	(void)state;
	assert_int_equal(run_child(false), 0);
}

static void so_has_its_guard(void **state)
{
	(void)state;
	assert_int_equal(run_child(true), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_recorder_has_only_its_connection),
		cmocka_unit_test(so_has_its_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
