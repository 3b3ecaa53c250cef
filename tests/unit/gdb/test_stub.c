/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Misbehaving stubs: QEMU's stub does none of this, so a thread plays the stub, at the
 * other end of a pair of sockets.
 */

#define _GNU_SOURCE 1
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "gdb/stub.h"

static struct stub stub;
static int theirs;
static struct error err;

static int stub_setup(void **state)
{
	const struct timeval patience = {STUB_PATIENCE_S, 0};
	int ends[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ||
	    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0)
		return -1;
	stub = (struct stub){.fd = ends[0], .name = "unix:x"};
	theirs = ends[1];
	return 0;
}

static int end(void **state)
{
	(void)state;
	stub_close(&stub);
	close(theirs);
	return 0;
}

static void say(const char *text)
{
	assert_int_equal(write(theirs, text, strlen(text)), strlen(text));
}

static void ask(const char *command)
{
	struct commands commands = {.count = 0};

	commands_add(&commands, "%s", command);
	assert_int_equal(stub_send(&stub, &commands, &err), 0);
}

static void stops_are_counted(void **state)
{
	struct packet reply;

	(void)state;
	ask("g");
	say("$T02thread:01;#04+$T02thread:01;#04$00#60");
	assert_int_equal(stub_reply(&stub, &reply, &err), 0);
	assert_string_equal(reply.text, "00");
	assert_int_equal(stub.stops, 2);
	assert_int_equal(stub.awaited, 0);
}

static void stops_by_others_are_acknowledged(void **state)
{
	char bytes[8];

	(void)state;
	assert_int_equal(stub_look(&stub, &err), 0);
	assert_int_equal(stub.stops, 0);
	say("$T02thread:01;#04$T02thread:01;#04");
	assert_int_equal(stub_look(&stub, &err), 0);
	assert_int_equal(stub.stops, 2);
	assert_int_equal(read(theirs, bytes, sizeof(bytes)), 2);
	say("$OK#9a");
	assert_int_equal(stub_look(&stub, &err), -1);
}

static void the_end_is_noticed(void **state)
{
	struct packet reply;

	(void)state;
	say("$W00#b7");
	assert_int_equal(stub_look(&stub, &err), -1);
	assert_true(stub.has_ended);
	stub.has_ended = false;
	shutdown(theirs, SHUT_WR);
	assert_int_equal(stub_reply(&stub, &reply, &err), -1);
	assert_true(stub.has_ended);
	assert_string_equal(err.text, "the GDB stub at unix:x has closed the connection");
}

static void damage_is_an_error(void **state)
{
	(void)state;
	say("$OK#00");
	assert_int_equal(stub_expect_ok(&stub, &err), -1);
	say("-");
	assert_int_equal(stub_expect_ok(&stub, &err), -1);
	assert_false(stub.has_ended);
	say("$E22#a9");
	assert_int_equal(stub_expect_ok(&stub, &err), -1);
	ask("c");
	say("+");
	assert_int_equal(stub_expect_acknowledgements(&stub, &err), 0);
	ask("c");
	say("$E22#a9");
	assert_int_equal(stub_expect_acknowledgements(&stub, &err), -1);
}

/* A byte now and then must not extend the time. */
static void *drip(void *unused)
{
	(void)unused;
	for (int i = 0; i < 300; i++) {
		if (send(theirs, "$", 1, MSG_NOSIGNAL) < 0)
			break;
		nanosleep(&(struct timespec){0, 100000000}, NULL);
	}
	return NULL;
}

static void a_dripping_stub_is_given_up(void **state)
{
	uint64_t start = clock_monotonic(), length;
	struct packet reply;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, drip, NULL), 0);
	assert_int_equal(stub_reply(&stub, &reply, &err), -1);
	length = clock_monotonic() - start;
	assert_true(length > STUB_PATIENCE_S * NS_PER_S * 9 / 10);
	assert_true(length < 25 * NS_PER_S); /* less than the 30 s of the bytes, even on a
						busy machine */
	assert_false(stub.has_ended);
	assert_string_equal(err.text, "the GDB stub at unix:x has not answered for 3 s: "
				      "another debugger may be connected");
	stub_close(&stub); /* ends the thread */
	pthread_join(thread, NULL);
}

static void the_monitor_prints_in_parts(void **state)
{
	char *text;

	(void)state;
	say("+$O6162#1e$O0a#e0$OK#9a");
	text = stub_monitor(&stub, "info", &err);
	assert_non_null(text);
	assert_string_equal(text, "ab\n");
	free(text);
	say("$#00");
	assert_null(stub_monitor(&stub, "info", &err));
	say("$Oxy#40");
	assert_null(stub_monitor(&stub, "info", &err));
}

/* Another process has read a part of a packet. */
static void a_release_skips_what_is_left(void **state)
{
	char bytes[128] = "";

	(void)state;
	say("00#60+-$1234#ca$OK#9a$T02thread:01;#04+$OK#9a+$1#31+");
	say("$OK#9a");
	assert_int_equal(stub_release(&stub, &err), 0);
	assert_int_equal(stub.used, stub.received);
	assert_true(read(theirs, bytes, sizeof(bytes) - 1) > 0);
	assert_string_equal(bytes, "\003$Qqemu.PhyMemMode:0#76$qAttached#8f$D;1#b0");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, stub_setup, end)
	const struct CMUnitTest tests[] = {
		TEST(stops_are_counted),
		TEST(stops_by_others_are_acknowledged),
		TEST(the_end_is_noticed),
		TEST(damage_is_an_error),
		TEST(a_dripping_stub_is_given_up),
		TEST(the_monitor_prints_in_parts),
		TEST(a_release_skips_what_is_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
