/* SPDX-License-Identifier: BSD-3-Clause */

/* Repeated and malformed fields (FORMAT.md, 5), in chunks of every type. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/name_list.h"

static bool is_valid(unsigned int type, const struct buffer *bytes)
{
	const struct cursor payload = {bytes->data, bytes->data + bytes->size, false};
	struct samples_batch batch = {0};
	struct name_list_reader names;
	struct recording_domain domain;
	struct recording_info info;
	struct recording_end end;
	bool valid;

	switch (type) {
	case CHUNK_INFO:
		return info_decode(payload, &info) == 0;
	case CHUNK_DOMAIN:
		return domain_decode(payload, &domain) == 0;
	case CHUNK_SAMPLES:
		valid = samples_decode(payload, &batch) == 0;
		samples_batch_free(&batch);
		return valid;
	case CHUNK_END:
		return end_decode(payload, &end) == 0;
	default:
		return name_list_read(&names, payload) == 0;
	}
}

/* Writes a payload that is valid with any number in the field with tag 1. */
static void put_payload(struct buffer *payload, unsigned int type)
{
	buffer_reset(payload);
	field_put_number(payload, 1, 0);
	if (type == CHUNK_DOMAIN)
		field_put(payload, 4, "0123456789abcdef", 16);
}

static void a_repeated_tag_is_damage(void **state)
{
	static const unsigned int tags[] = {1, 40, 63, 64,
					    1000}; /* only tag 1 is known */
	struct buffer payload = {0};

	(void)state;
	for (unsigned int type = CHUNK_INFO; type <= CHUNK_NAMES; type++) {
		for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
			put_payload(&payload, type);
			if (i)
				field_put_number(&payload, tags[i], 0);
			assert_true(is_valid(type, &payload));
			field_put_number(&payload, tags[i], 0);
			assert_int_equal(is_valid(type, &payload), tags[i] >= 64);
		}
	}
	buffer_free(&payload);
}

/* A reader can't tell which of two fields with one tag is right. */
static void a_malformed_field_is_damage_before_and_after_a_good_one(void **state)
{
	struct buffer payload = {0};

	(void)state;
	for (unsigned int type = CHUNK_INFO; type <= CHUNK_NAMES; type++) {
		buffer_reset(&payload);
		field_put(&payload, 1, "\x80", 1);
		assert_false(is_valid(type, &payload));
		field_put_number(&payload, 1, 0);
		assert_false(is_valid(type, &payload));
		put_payload(&payload, type);
		field_put(&payload, 1, "\x80", 1);
		assert_false(is_valid(type, &payload));
	}
	buffer_free(&payload);
}

static void a_place_is_skipped_wherever_it_is(void **state)
{
	struct buffer payload = {0};

	(void)state;
	for (unsigned int type = CHUNK_INFO; type <= CHUNK_NAMES; type++) {
		put_payload(&payload, type);
		field_put(&payload, 0, "\xff", 1);
		assert_true(is_valid(type, &payload));
		field_put(&payload, 0, "\xff", 1);
		assert_false(is_valid(type, &payload));
	}
	buffer_free(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repeated_tag_is_damage),
		cmocka_unit_test(a_malformed_field_is_damage_before_and_after_a_good_one),
		cmocka_unit_test(a_place_is_skipped_wherever_it_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
