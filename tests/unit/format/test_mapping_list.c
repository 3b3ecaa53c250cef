/* SPDX-License-Identifier: BSD-3-Clause */

/* Mappings in recordings: their chunks. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "format/chunk.h"
#include "format/mapping_list.h"

#define TEXT(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct recording_mapping mappings[] = {
	{.domain = 0,
	 .pid = 1234,
	 .space = 0x123456000,
	 .time = 5000000000,
	 .start = 0x401000,
	 .size = 0x3000,
	 .offset = 0x1000,
	 .path = TEXT("/usr/bin/web server"),
	 .build_id = TEXT("\1\2\3\0\5")},
	{.domain = 0,
	 .pid = 1234,
	 .space = 0x123456000,
	 .time = 5000000000,
	 .start = 0x7f0000000000,
	 .size = 0x1000,
	 .path = TEXT("")},
	{.domain = 65535,
	 .pid = UINT32_MAX,
	 .space = 0x1000,
	 .time = 1,
	 .start = 0xfffffffffffff000,
	 .size = 0x1000,
	 .offset = 0xfffffffffffff000},
};

#define COUNT (sizeof(mappings) / sizeof(mappings[0]))

static void make_payload(struct buffer *payload)
{
	struct mapping_list list = {0};

	for (size_t i = 0; i < COUNT; i++)
		mapping_list_add(&list, &mappings[i]);
	mapping_list_finish(&list, payload);
	assert_int_equal(list.count, 0);
	mapping_list_free(&list);
}

static void expect_text(struct recording_text text, struct recording_text wanted)
{
	assert_int_equal(text.length, wanted.length);
	if (wanted.length)
		assert_memory_equal(text.at, wanted.at, wanted.length);
}

static void mappings_round_trip(void **state)
{
	struct buffer payload = {0};
	struct mapping_list_reader reader;
	struct recording_mapping mapping;

	(void)state;
	make_payload(&payload);
	assert_int_equal(mapping_list_count(cursor_of(&payload)), COUNT);
	assert_int_equal(mapping_list_read(&reader, cursor_of(&payload)), 0);
	for (size_t i = 0; i < COUNT; i++) {
		assert_true(mapping_list_next(&reader, &mapping));
		assert_int_equal(mapping.domain, mappings[i].domain);
		assert_int_equal(mapping.pid, mappings[i].pid);
		assert_int_equal(mapping.space, mappings[i].space);
		assert_int_equal(mapping.time, mappings[i].time);
		assert_int_equal(mapping.start, mappings[i].start);
		assert_int_equal(mapping.size, mappings[i].size);
		assert_int_equal(mapping.offset, mappings[i].offset);
		expect_text(mapping.path, mappings[i].path);
		expect_text(mapping.build_id, mappings[i].build_id);
	}
	assert_false(mapping_list_next(&reader, &mapping));
	buffer_free(&payload);
}

/* Reads one mapping with these numbers; -1 if it is damaged. */
static int read_one(uint64_t domain, uint64_t start, uint64_t size, size_t path,
		    size_t build_id)
{
	static const char text[RECORDING_MAX_PATH + 1];
	struct recording_mapping mapping = {
		.domain = (uint32_t)domain,
		.start = start,
		.size = size,
		.path = {text, path},
		.build_id = {text, build_id},
	};
	struct mapping_list list = {0};
	struct buffer payload = {0};
	struct mapping_list_reader reader;
	int status;

	mapping_list_add(&list, &mapping);
	mapping_list_finish(&list, &payload);
	status = mapping_list_read(&reader, cursor_of(&payload));
	mapping_list_free(&list);
	buffer_free(&payload);
	return status;
}

static void limits_are_kept(void **state)
{
	(void)state;
	assert_int_equal(read_one(RECORDING_MAX_DOMAIN, 0, 0x1000, RECORDING_MAX_PATH,
				  RECORDING_MAX_BUILD_ID),
			 0);
	assert_int_equal(read_one(RECORDING_MAX_DOMAIN + 1, 0, 0x1000, 0, 0), -1);
	assert_int_equal(read_one(0, 0, 0, 0, 0), -1);
	assert_int_equal(read_one(0, 0xfffffffffffff000, 0x1000, 0, 0), 0);
	assert_int_equal(read_one(0, 0xfffffffffffff000, 0x2000, 0, 0), -1);
	assert_int_equal(read_one(0, 0, 0x1000, RECORDING_MAX_PATH + 1, 0), -1);
	assert_int_equal(read_one(0, 0, 0x1000, 0, RECORDING_MAX_BUILD_ID + 1), -1);
}

/* Each column that is missing or too short, and each that is cut. */
static void damage_is_noticed(void **state)
{
	struct buffer payload = {0};
	struct mapping_list_reader reader;
	struct cursor whole;
	struct field field;

	(void)state;
	make_payload(&payload);
	whole = cursor_of(&payload);
	assert_true(field_next(&whole, &field)); /* the count */
	while (field_next(&whole, &field)) {
		struct buffer other = {0};
		struct cursor rest = cursor_of(&payload);
		struct field copied;

		while (field_next(&rest, &copied)) {
			size_t size = (size_t)(copied.bytes.end - copied.bytes.at);

			field_put(&other, (unsigned int)copied.tag, copied.bytes.at,
				  copied.tag == field.tag ? size - 1 : size);
		}
		assert_int_equal(mapping_list_read(&reader, cursor_of(&other)), -1);
		buffer_free(&other);
	}
	for (size_t size = 1; size < payload.size; size++) {
		const struct cursor cut = {payload.data, payload.data + size, false};

		assert_int_equal(mapping_list_read(&reader, cut), -1);
	}
	payload.data[2] = 4; /* one more mapping than there are */
	assert_int_equal(mapping_list_read(&reader, cursor_of(&payload)), -1);
	payload.data[2] = 0;
	assert_int_equal(mapping_list_read(&reader, cursor_of(&payload)), 0);
	buffer_free(&payload);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_round_trip),
		cmocka_unit_test(limits_are_kept),
		cmocka_unit_test(damage_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
