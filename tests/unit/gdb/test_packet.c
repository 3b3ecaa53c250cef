/* SPDX-License-Identifier: BSD-3-Clause */

/* Packets of GDB's remote serial protocol. */

#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gdb/packet.h"

static char bytes[2 * PACKET_MAX];

static size_t take_copy(const char *text, struct packet *packet)
{
	size_t length = strlen(text);

	memcpy(bytes, text, length);
	return packet_take(bytes, length, packet);
}

static void a_packet_and_what_precedes_it(void **state)
{
	struct packet packet;

	(void)state;
	assert_int_equal(take_copy("+$OK#9a", &packet), 1);
	assert_int_equal(packet.kind, PACKET_ACKNOWLEDGED);
	assert_int_equal(take_copy("-", &packet), 1);
	assert_int_equal(packet.kind, PACKET_REFUSED);
	assert_int_equal(take_copy("5#9a$OK#9a+", &packet), 10);
	assert_int_equal(packet.kind, PACKET_WHOLE);
	assert_string_equal(packet.text, "OK");
	assert_int_equal(packet.length, 2);
	assert_int_equal(take_copy("$#00", &packet), 4);
	assert_int_equal(packet.kind, PACKET_WHOLE);
	assert_string_equal(packet.text, "");
}

static void the_start_of_a_packet_waits_for_the_rest(void **state)
{
	const char whole[] = "$OK#9a";
	struct packet packet;

	(void)state;
	for (size_t length = 0; length < sizeof(whole) - 1; length++) {
		memcpy(bytes, whole, length);
		assert_int_equal(packet_take(bytes, length, &packet), 0);
		assert_int_equal(packet.kind, PACKET_NONE);
	}
	assert_int_equal(take_copy("xyz$OK#9", &packet), 3);
	assert_int_equal(packet.kind, PACKET_NONE);
}

static void a_damaged_packet_is_bad(void **state)
{
	struct packet packet;

	(void)state;
	assert_int_equal(take_copy("$OK#9b", &packet), 6);
	assert_int_equal(packet.kind, PACKET_BAD);
	take_copy("$OK#zz", &packet);
	assert_int_equal(packet.kind, PACKET_BAD);
	memset(bytes, 'a', sizeof(bytes));
	bytes[0] = '$';
	assert_int_not_equal(packet_take(bytes, sizeof(bytes), &packet), 0);
	assert_int_equal(packet.kind, PACKET_BAD);
}

static void escapes_are_removed(void **state)
{
	struct packet packet;

	(void)state;
	/* '#' is 0x03 ^ 0x20, '}' is 0x5d ^ 0x20. */
	take_copy("$a}\003b}]#1d", &packet);
	assert_int_equal(packet.kind, PACKET_WHOLE);
	assert_string_equal(packet.text, "a#b}");
	assert_int_equal(packet.length, 4);
}

static void commands_are_packets(void **state)
{
	struct commands commands = {.count = 0};
	struct packet packet;
	size_t used;

	(void)state;
	commands_interrupt(&commands);
	assert_true(commands_add(&commands, "m%x,%x", 0x1000, 16));
	assert_true(commands_add(&commands, "g"));
	assert_int_equal(commands.count, 2);
	assert_int_equal(commands.text[0], 3);
	used = packet_take(commands.text, commands.length, &packet);
	assert_int_equal(packet.kind, PACKET_WHOLE);
	assert_string_equal(packet.text, "m1000,10");
	packet_take(commands.text + used, commands.length - used, &packet);
	assert_string_equal(packet.text, "g");
}

static void commands_end_where_there_is_no_room(void **state)
{
	struct commands commands = {.count = 0};
	unsigned int count = 0;

	(void)state;
	while (commands_add(&commands, "%s", "0123456789"))
		count++;
	assert_int_equal(commands.count, count);
	assert_int_equal(commands.length, 14 * count);
	assert_true(commands.length < COMMANDS_SIZE);
	assert_true(COMMANDS_SIZE - commands.length < 16);
}

static void numbers_are_little_endian(void **state)
{
	uint64_t number;

	(void)state;
	assert_true(packet_number("efCDab89674523017", 17, 8, &number));
	assert_true(number == 0x0123456789abcdef);
	assert_true(packet_number("3412", 4, 2, &number));
	assert_true(number == 0x1234);
	assert_false(packet_number("341", 3, 2, &number));
	assert_false(packet_number("3g12", 4, 2, &number));
	assert_false(packet_number("xxxx", 4, 2, &number));
	assert_false(packet_number("000000000000000000", 18, 9, &number));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_and_what_precedes_it),
		cmocka_unit_test(the_start_of_a_packet_waits_for_the_rest),
		cmocka_unit_test(a_damaged_packet_is_bad),
		cmocka_unit_test(escapes_are_removed),
		cmocka_unit_test(commands_are_packets),
		cmocka_unit_test(commands_end_where_there_is_no_room),
		cmocka_unit_test(numbers_are_little_endian),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
