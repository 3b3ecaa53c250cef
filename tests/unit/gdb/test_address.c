/* SPDX-License-Identifier: BSD-3-Clause */

/* How the address of a stub is written. */

#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

#include <cmocka.h>

#include "gdb/address.h"

static struct gdb_address address;
static struct error err;

static void a_path(void **state)
{
	char text[5 + sizeof(((struct sockaddr_un *)0)->sun_path) + 1];

	(void)state;
	assert_int_equal(gdb_address_find("unix:/run/a:1.sock", &address, &err), 0);
	assert_int_equal(address.socket.ss_family, AF_UNIX);
	assert_string_equal(((struct sockaddr_un *)&address.socket)->sun_path,
			    "/run/a:1.sock");
	assert_int_equal(gdb_address_check("unix:", &err), -1);
	memset(text, 'a', sizeof(text));
	memcpy(text, "unix:", 5);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(gdb_address_check(text, &err), -1);
	text[sizeof(text) - 2] = 0;
	assert_int_equal(gdb_address_find(text, &address, &err), 0);
}

static void a_host_and_a_port(void **state)
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)&address.socket;
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address.socket;

	(void)state;
	assert_int_equal(gdb_address_find("tcp:127.0.0.1:1234", &address, &err), 0);
	assert_int_equal(four->sin_family, AF_INET);
	assert_int_equal(ntohs(four->sin_port), 1234);
	assert_int_equal(ntohl(four->sin_addr.s_addr), INADDR_LOOPBACK);
	assert_int_equal(gdb_address_find("tcp:[::1]:65535", &address, &err), 0);
	assert_int_equal(six->sin6_family, AF_INET6);
	assert_int_equal(ntohs(six->sin6_port), 65535);
}

static void all_else_is_refused(void **state)
{
	static const char *const texts[] = {
		"",	   "x",		  "unix",	"tcp:",		  "tcp:host",
		"tcp::1",  "tcp:host:",	  "tcp:host:0", "tcp:host:65536", "tcp:host:1x",
		"udp:a:1", "tcp:host:-1",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		assert_int_equal(gdb_address_check(texts[i], &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path),
		cmocka_unit_test(a_host_and_a_port),
		cmocka_unit_test(all_else_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
