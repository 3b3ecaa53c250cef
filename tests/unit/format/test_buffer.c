/* SPDX-License-Identifier: BSD-3-Clause */

/* The byte buffer and the cursor: numbers are read back as written. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "format/buffer.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void expect_varint(uint64_t value, size_t length)
{
	struct buffer buffer = {0};
	struct cursor cursor;

	buffer_put_varint(&buffer, value);
	assert_false(buffer.failed);
	assert_int_equal(buffer.size, length);
	cursor = cursor_of(&buffer);
	assert_int_equal(cursor_varint(&cursor), value);
	assert_false(cursor.failed);
	assert_ptr_equal(cursor.at, cursor.end);
	buffer_free(&buffer);
}

static void numbers_of_every_length_round_trip(void **state)
{
	(void)state;
	expect_varint(0, 1);
	for (unsigned int bit = 0; bit < 64; bit++) {
		uint64_t power = (uint64_t)1 << bit;

		expect_varint(power, bit / 7 + 1);
		expect_varint(power - 1, bit ? (bit - 1) / 7 + 1 : 1);
		expect_varint(power | 1, bit / 7 + 1);
	}
	expect_varint(UINT64_MAX, 10);
}

static void numbers_are_written_as_leb128(void **state)
{
	/* The examples of DWARF 5, section 7.6. */
	static const struct {
		uint64_t value;
		uint8_t bytes[2];
		size_t size;
	} examples[] = {
		{2, {2}, 1},
		{127, {0x7f}, 1},
		{128, {0x80, 1}, 2},
		{129, {0x81, 1}, 2},
		{12857, {57 + 0x80, 100}, 2},
	};
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(examples); i++) {
		buffer_reset(&buffer);
		buffer_put_varint(&buffer, examples[i].value);
		assert_int_equal(buffer.size, examples[i].size);
		assert_memory_equal(buffer.data, examples[i].bytes, examples[i].size);
	}
	buffer_free(&buffer);
}

static void signed_numbers_round_trip_and_small_ones_are_short(void **state)
{
	static const int64_t values[] = {
		0,
		-1,
		1,
		-2,
		2,
		63,
		-64,
		64,
		-65,
		INT32_MIN,
		INT64_MAX,
		INT64_MIN,
		INT64_MIN + 1,
	};
	struct buffer buffer = {0};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct cursor cursor;

		buffer_reset(&buffer);
		buffer_put_signed(&buffer, values[i]);
		if (values[i] >= -64 && values[i] <= 63)
			assert_int_equal(buffer.size, 1);
		if (i < 5) /* 0, -1, 1, -2, 2 are encoded as 0, 1, 2, 3, 4 */
			assert_int_equal(buffer.data[0], i);
		cursor = cursor_of(&buffer);
		assert_true(cursor_signed(&cursor) == values[i]);
		assert_false(cursor.failed);
	}
	buffer_free(&buffer);
}

static void a_number_above_64_bits_is_refused(void **state)
{
	static const uint8_t one_bit_more[] = {0x80, 0x80, 0x80, 0x80, 0x80,
					       0x80, 0x80, 0x80, 0x80, 0x02};
	static const uint8_t one_byte_more[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
						0x80, 0x80, 0x80, 0x80, 0x00};
	struct cursor bit = {one_bit_more, one_bit_more + 10, false};
	struct cursor byte = {one_byte_more, one_byte_more + 11, false};

	(void)state;
	assert_int_equal(cursor_varint(&bit), 0);
	assert_true(bit.failed);
	assert_int_equal(cursor_varint(&byte), 0);
	assert_true(byte.failed);
}

static void a_padded_number_is_read(void **state)
{
	static const uint8_t padded[] = {0x85, 0x80, 0x00};
	struct cursor cursor = {padded, padded + sizeof(padded), false};

	(void)state;
	assert_int_equal(cursor_varint(&cursor), 5);
	assert_false(cursor.failed);
	assert_ptr_equal(cursor.at, cursor.end);
}

static void reading_fails_from_a_truncated_number_on(void **state)
{
	uint8_t bytes[9];

	(void)state;
	memset(bytes, 0x81, sizeof(bytes));
	for (size_t size = 0; size <= sizeof(bytes); size++) {
		struct cursor cursor = {bytes, bytes + size, false};

		assert_int_equal(cursor_varint(&cursor), 0);
		assert_true(cursor.failed);
		assert_int_equal(cursor_varint(&cursor), 0);
		assert_int_equal(cursor_signed(&cursor), 0);
		assert_true(cursor.failed);
		assert_ptr_equal(cursor.at, cursor.end);
	}
}

static void reading_beyond_the_end_fails(void **state)
{
	static const uint64_t too_much[] = {6,	       7, 256, UINT32_MAX, UINT64_MAX - 4,
					    UINT64_MAX};
	static const uint8_t bytes[] = {1, 2, 3, 4, 5};
	struct cursor cursor = {bytes, bytes + 5, false}, part;

	(void)state;
	part = cursor_take(&cursor, 2);
	assert_ptr_equal(part.at, bytes);
	assert_ptr_equal(part.end, bytes + 2);
	part = cursor_take(&cursor, 0);
	assert_ptr_equal(part.at, part.end);
	part = cursor_take(&cursor, 3);
	assert_ptr_equal(part.at, bytes + 2);
	assert_ptr_equal(part.end, bytes + 5);
	assert_false(cursor.failed || part.failed);
	for (size_t i = 0; i < COUNT_OF(too_much); i++) {
		cursor = (struct cursor){bytes, bytes + 5, false};
		part = cursor_take(&cursor, too_much[i]);
		assert_true(cursor.failed);
		assert_true(part.failed);
		assert_ptr_equal(part.at, part.end);
		assert_ptr_equal(cursor.at, cursor.end);
	}
}

static void growing_keeps_the_contents(void **state)
{
	struct buffer buffer = {0};
	struct cursor cursor;

	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		buffer_put_varint(&buffer, i * i);
	assert_false(buffer.failed);
	cursor = cursor_of(&buffer);
	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(cursor_varint(&cursor), i * i);
	assert_ptr_equal(cursor.at, cursor.end);
	buffer_free(&buffer);
	assert_null(buffer.data);
}

static void empty_data_can_be_put_and_taken(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	buffer_put(&buffer, NULL, 0);
	assert_non_null(buffer_extend(&buffer, 0));
	assert_int_equal(buffer.size, 0);
	assert_false(buffer.failed);
	buffer_free(&buffer);
}

static void a_failure_is_remembered_until_the_reset(void **state)
{
	struct buffer buffer = {0};

	(void)state;
	buffer_put(&buffer, "abc", 3);
	assert_null(buffer_extend(&buffer, SIZE_MAX));
	assert_true(buffer.failed);
	buffer_put(&buffer, "def", 3);
	buffer_put_varint(&buffer, 1);
	assert_null(buffer_extend(&buffer, 1));
	assert_true(buffer.failed);
	assert_int_equal(buffer.size, 3);
	assert_memory_equal(buffer.data, "abc", 3);
	buffer_reset(&buffer);
	assert_false(buffer.failed);
	buffer_put(&buffer, "def", 3);
	assert_int_equal(buffer.size, 3);
	assert_memory_equal(buffer.data, "def", 3);
	buffer_free(&buffer);
}

static void little_endian_numbers_can_be_at_any_address(void **state)
{
	uint8_t bytes[16] = {0};

	(void)state;
	for (size_t at = 0; at < 8; at++) {
		static const uint8_t in_order[] = {0xfe, 0xca, 0x04, 0x03, 0x02, 0x81};

		put_le16(bytes + at, 0xcafe);
		put_le32(bytes + at + 2, 0x81020304);
		assert_memory_equal(bytes + at, in_order, sizeof(in_order));
		assert_int_equal(get_le16(bytes + at), 0xcafe);
		assert_int_equal(get_le32(bytes + at + 2), 0x81020304);
	}
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_length_round_trip),
		cmocka_unit_test(numbers_are_written_as_leb128),
		cmocka_unit_test(signed_numbers_round_trip_and_small_ones_are_short),
		cmocka_unit_test(a_number_above_64_bits_is_refused),
		cmocka_unit_test(a_padded_number_is_read),
		cmocka_unit_test(reading_fails_from_a_truncated_number_on),
		cmocka_unit_test(reading_beyond_the_end_fails),
		cmocka_unit_test(growing_keeps_the_contents),
		cmocka_unit_test(empty_data_can_be_put_and_taken),
		cmocka_unit_test(a_failure_is_remembered_until_the_reset),
		cmocka_unit_test(little_endian_numbers_can_be_at_any_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
