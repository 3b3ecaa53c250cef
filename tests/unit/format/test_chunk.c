/* SPDX-License-Identifier: BSD-3-Clause */

/* The framing of chunks, and the payloads that describe a recording. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <zstd.h>

#include "format/place.h"

static void fill_alike(struct buffer *bytes, size_t size)
{
	buffer_reset(bytes);
	memset(buffer_extend(bytes, size), 'a', size);
}

/* Encodes the payload, and decodes it again. */
static struct chunk_header expect_chunk(const struct buffer *payload)
{
	struct buffer file = {0}, again = {0};
	struct chunk_header header;

	buffer_put(&file, "before", 6);
	assert_int_equal(chunk_encode(&file, CHUNK_SAMPLES, payload), 0);
	assert_memory_equal(file.data, "before", 6);
	assert_true(chunk_header_decode(file.data + 6, &header));
	assert_int_equal(header.type, CHUNK_SAMPLES);
	assert_int_equal(header.payload, payload->size);
	assert_int_equal(file.size, 6 + CHUNK_HEADER_SIZE + header.stored);
	assert_true(chunk_decode(&header, file.data + 6 + CHUNK_HEADER_SIZE, &again));
	assert_int_equal(again.size, payload->size);
	if (payload->size)
		assert_memory_equal(again.data, payload->data, payload->size);
	buffer_free(&file);
	buffer_free(&again);
	return header;
}

static void payloads_of_any_size_round_trip(void **state)
{
	static const size_t sizes[] = {
		0, 1, 2, 23, 255, 4096, 65537, 1 << 20, RECORDING_MAX_PAYLOAD};
	struct buffer payload = {0};

	(void)state;
	expect_chunk(&payload);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		fill_alike(&payload, sizes[i]);
		expect_chunk(&payload);
		fill_random(&payload, sizes[i]);
		expect_chunk(&payload);
	}
	buffer_free(&payload);
}

static void payloads_are_compressed_only_if_that_makes_them_smaller(void **state)
{
	struct buffer payload = {0};
	struct chunk_header header;

	(void)state;
	fill_alike(&payload, 4096);
	header = expect_chunk(&payload);
	assert_int_equal(header.encoding, CHUNK_ZSTD);
	assert_true(header.stored < 200);
	fill_random(&payload, 4096);
	header = expect_chunk(&payload);
	assert_int_equal(header.encoding, CHUNK_PLAIN);
	assert_int_equal(header.stored, 4096);
	buffer_free(&payload);
}

static void a_payload_above_the_limit_is_not_written(void **state)
{
	struct buffer payload = {0}, file = {0};

	(void)state;
	fill_alike(&payload, RECORDING_MAX_PAYLOAD + 1);
	assert_int_equal(chunk_encode(&file, CHUNK_SAMPLES, &payload), -1);
	assert_int_equal(file.size, 0);
	buffer_reset(&payload);
	payload.failed = true;
	assert_int_equal(chunk_encode(&file, CHUNK_SAMPLES, &payload), -1);
	assert_int_equal(file.size, 0);
	buffer_free(&payload);
	buffer_free(&file);
}

static void a_header_with_any_changed_bit_is_refused(void **state)
{
	struct buffer file = {0}, payload = {0};
	struct chunk_header header;

	(void)state;
	fill_random(&payload, 100);
	assert_int_equal(chunk_encode(&file, CHUNK_INFO, &payload), 0);
	for (size_t i = 0; i < CHUNK_HEADER_SIZE; i++) {
		for (unsigned int change = 1; change < 256; change++) {
			file.data[i] ^= change;
			assert_false(chunk_header_decode(file.data, &header));
			file.data[i] ^= change;
		}
	}
	assert_true(chunk_header_decode(file.data, &header));
	buffer_free(&file);
	buffer_free(&payload);
}

static bool header_is_taken(uint32_t stored, uint32_t payload)
{
	struct buffer file = {0};
	struct chunk_header header;
	bool taken;

	put_chunk(&file, CHUNK_INFO, CHUNK_ZSTD, "", 0, 0);
	put_le32(file.data + 8, stored);
	put_le32(file.data + 12, payload);
	put_le32(file.data + 20, (uint32_t)crc32_z(0, file.data, 20));
	taken = chunk_header_decode(file.data, &header);
	buffer_free(&file);
	return taken;
}

static void a_header_with_too_large_a_size_is_refused(void **state)
{
	(void)state;
	assert_true(header_is_taken(0, 0));
	assert_true(header_is_taken(RECORDING_MAX_STORED, RECORDING_MAX_PAYLOAD));
	assert_false(header_is_taken(RECORDING_MAX_STORED + 1, 0));
	assert_false(header_is_taken(0, RECORDING_MAX_PAYLOAD + 1));
	assert_false(header_is_taken(UINT32_MAX, 100));
	assert_false(header_is_taken(100, UINT32_MAX));
}

/* Whether stored bytes with a correct checksum decode to a payload. */
static bool decodes(uint16_t encoding, const void *stored, size_t size,
		    size_t payload_size)
{
	struct chunk_header header;
	struct buffer file = {0}, payload = {0};
	bool decoded;

	put_chunk(&file, CHUNK_INFO, encoding, stored, (uint32_t)size,
		  (uint32_t)payload_size);
	assert_true(chunk_header_decode(file.data, &header));
	decoded = chunk_decode(&header, file.data + CHUNK_HEADER_SIZE, &payload);
	assert_true(payload.capacity <= 2 * RECORDING_MAX_PAYLOAD);
	if (decoded)
		assert_int_equal(payload.size, payload_size);
	buffer_free(&file);
	buffer_free(&payload);
	return decoded;
}

static void stored_bytes_of_the_wrong_size_are_damage(void **state)
{
	char plain[1000] = {0}, packed[1000];
	size_t size = ZSTD_compress(packed, sizeof(packed), plain, sizeof(plain), 3);

	(void)state;
	assert_true(decodes(CHUNK_PLAIN, plain, 1000, 1000));
	assert_false(decodes(CHUNK_PLAIN, plain, 1000, 999));
	assert_false(decodes(CHUNK_PLAIN, plain, 1000, 1001));
	assert_false(decodes(CHUNK_PLAIN, plain, 1000, 0));
	assert_true(decodes(CHUNK_ZSTD, packed, size, 1000));
	assert_false(decodes(CHUNK_ZSTD, packed, size, 999));
	assert_false(decodes(CHUNK_ZSTD, packed, size, 1001));
	assert_false(decodes(CHUNK_ZSTD, packed, size, 0));
	assert_false(decodes(CHUNK_ZSTD, packed, size - 1, 1000));
	assert_false(decodes(CHUNK_ZSTD, plain, 1000, 1000));
	assert_true(decodes(CHUNK_ZSTD, plain, 0, 0));
	assert_false(decodes(CHUNK_ZSTD, plain, 0, 1));
}

static void an_unknown_encoding_is_refused(void **state)
{
	(void)state;
	for (unsigned int encoding = 2; encoding < 65536; encoding++)
		assert_false(decodes((uint16_t)encoding, "payload", 7, 7));
}

static void a_zstd_bomb_is_refused(void **state)
{
	size_t size = 4 * RECORDING_MAX_PAYLOAD, room = ZSTD_compressBound(size), packed;
	char *plain = calloc(1, size), *bomb = malloc(room);

	(void)state;
	assert_true(plain && bomb);
	packed = ZSTD_compress(bomb, room, plain, size, 3);
	assert_true(packed < 20000);
	assert_false(decodes(CHUNK_ZSTD, bomb, packed, RECORDING_MAX_PAYLOAD));
	assert_false(decodes(CHUNK_ZSTD, bomb, packed, 1));
	free(plain);
	free(bomb);
}

static void fields_round_trip(void **state)
{
	static const uint64_t numbers[] = {0, 127, 128, 16383, 16384, UINT64_MAX};
	struct buffer payload = {0};
	struct cursor cursor;
	struct field field;

	(void)state;
	field_put(&payload, 1, "text", 4);
	field_put(&payload, 300, NULL, 0);
	for (unsigned int i = 0; i < 6; i++)
		field_put_number(&payload, 1000 + i, numbers[i]);
	cursor = cursor_of(&payload);
	assert_true(field_next(&cursor, &field));
	assert_int_equal(field.tag, 1);
	assert_int_equal(field.bytes.end - field.bytes.at, 4);
	assert_memory_equal(field.bytes.at, "text", 4);
	assert_true(field_next(&cursor, &field));
	assert_int_equal(field.tag, 300);
	assert_ptr_equal(field.bytes.at, field.bytes.end);
	for (unsigned int i = 0; i < 6; i++) {
		assert_true(field_next(&cursor, &field));
		assert_int_equal(field.tag, 1000 + i);
		assert_int_equal(cursor_varint(&field.bytes), numbers[i]);
		assert_ptr_equal(field.bytes.at, field.bytes.end);
	}
	assert_false(field_next(&cursor, &field));
	assert_false(cursor.failed);
	buffer_free(&payload);
}

static void a_field_longer_than_its_payload_is_damage(void **state)
{
	static const uint8_t payloads[][12] = {
		{1, 2, 'a'},
		{1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'a'},
		{1},
		{0x80},
		{1, 0x80},
	};
	static const size_t sizes[] = {3, 12, 1, 1, 2};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct cursor cursor = {payloads[i], payloads[i] + sizes[i], false};
		struct recording_info info;
		struct field field;

		assert_int_equal(info_decode(cursor, &info), -1);
		assert_false(field_next(&cursor, &field));
		assert_true(cursor.failed);
		assert_false(field_next(&cursor, &field));
	}
}

static void a_description_round_trips(void **state)
{
	struct recording_info info = test_info(), info_again;
	struct recording_domain domain = test_domain(), domain_again;
	struct recording_end end = {END_GUEST, 1, 2, 3, 4, 5, UINT64_MAX}, end_again;
	struct buffer payload = {0};

	(void)state;
	strcpy(info.event, "cycles:G");
	domain.id = 32752;
	domain.index = 65535;
	domain.unwind_way = UNWIND_BY_TABLE;
	domain.table_rows = 12345;
	strcpy(domain.table_files, "web.elf");
	strcpy(domain.build_ids, "00ff");
	domain.moves[0] = (uint64_t)-0x1000;
	domain.moves[2] = 0x5581b2a05000;
	domain.spaces[1] = 0x5622000;
	domain.spaces[2 * RECORDING_SPACES - 1] = UINT64_MAX;
	info_encode(&payload, &info);
	assert_int_equal(info_decode(cursor_of(&payload), &info_again), 0);
	assert_memory_equal(&info_again, &info, sizeof(info));
	buffer_reset(&payload);
	domain_encode(&payload, &domain);
	assert_int_equal(domain_decode(cursor_of(&payload), &domain_again), 0);
	assert_memory_equal(&domain_again, &domain, sizeof(domain));
	buffer_reset(&payload);
	end_encode(&payload, &end);
	assert_int_equal(end_decode(cursor_of(&payload), &end_again), 0);
	assert_memory_equal(&end_again, &end, sizeof(end));
	buffer_free(&payload);
}

static void missing_fields_are_0_or_empty(void **state)
{
	static const struct recording_info no_info;
	static const struct recording_domain no_domain;
	static const struct recording_end no_end;
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {.reason = END_TIME};
	struct cursor nothing = {(const uint8_t *)"", (const uint8_t *)"", false};

	(void)state;
	nothing.end = nothing.at;
	assert_int_equal(info_decode(nothing, &info), 0);
	assert_memory_equal(&info, &no_info, sizeof(info));
	assert_int_equal(domain_decode(nothing, &domain), 0);
	assert_memory_equal(&domain, &no_domain, sizeof(domain));
	assert_int_equal(end_decode(nothing, &end), 0);
	assert_memory_equal(&end, &no_end, sizeof(end));
}

static void unknown_fields_are_skipped_anywhere(void **state)
{
	struct buffer payload = {0};
	struct recording_end end;

	(void)state;
	field_put(&payload, 1000000, "from a later version", 20);
	field_put_number(&payload, 3, 42);
	field_put(&payload, 0, NULL, 0);
	field_put_number(&payload, 1, END_SIGNAL);
	field_put(&payload, 8, "\xff\xff\xff", 3);
	assert_int_equal(end_decode(cursor_of(&payload), &end), 0);
	assert_int_equal(end.samples, 42);
	assert_int_equal(end.reason, END_SIGNAL);
	buffer_free(&payload);
}

static void long_texts_are_truncated_and_terminated(void **state)
{
	struct recording_info info = {0}, again;
	struct buffer payload = {0};
	char text[3000];

	(void)state;
	memset(text, 'x', sizeof(text));
	memset(info.host, 'y', sizeof(info.host)); /* without a 0 at the end */
	field_put(&payload, 2, text, sizeof(text));
	field_put(&payload, 4, text, sizeof(again.command));
	field_put(&payload, 5, text, sizeof(again.hypervisor) - 1);
	assert_int_equal(info_decode(cursor_of(&payload), &again), 0);
	assert_int_equal(strlen(again.tool), sizeof(again.tool) - 1);
	assert_int_equal(strlen(again.command), sizeof(again.command) - 1);
	assert_int_equal(strlen(again.hypervisor), sizeof(again.hypervisor) - 1);
	buffer_reset(&payload);
	info_encode(&payload, &info);
	assert_int_equal(info_decode(cursor_of(&payload), &again), 0);
	assert_int_equal(strlen(again.host), sizeof(again.host) - 1);
	buffer_free(&payload);
}

static void a_number_or_uuid_of_the_wrong_length_is_damage(void **state)
{
	struct recording_domain domain;
	struct buffer payload = {0};

	(void)state;
	field_put(&payload, 2, NULL, 0);
	assert_int_equal(domain_decode(cursor_of(&payload), &domain), -1);
	buffer_reset(&payload);
	field_put(&payload, 2, "\x80", 1);
	assert_int_equal(domain_decode(cursor_of(&payload), &domain), -1);
	for (size_t size = 0; size < 20; size++) {
		buffer_reset(&payload);
		field_put(&payload, 4, "0123456789abcdefghij", size);
		assert_int_equal(domain_decode(cursor_of(&payload), &domain),
				 size == 16 ? 0 : -1);
	}
	buffer_free(&payload);
}

/* Every prefix of, and change to, a valid payload is accepted or refused cleanly. */
static void damaged_descriptions_are_safe(void **state)
{
	struct recording_domain domain = test_domain();
	struct buffer payload = {0};
	unsigned int refused = 0;

	(void)state;
	domain_encode(&payload, &domain);
	for (size_t i = 0; i < payload.size; i++) {
		struct cursor cursor = {payload.data, payload.data + i, false};

		refused += domain_decode(cursor, &domain) < 0;
		for (unsigned int change = 1; change < 256; change++) {
			payload.data[i] ^= change;
			refused += domain_decode(cursor_of(&payload), &domain) < 0;
			assert_non_null(memchr(domain.name, 0, sizeof(domain.name)));
			payload.data[i] ^= change;
		}
	}
	assert_true(refused > payload.size);
	buffer_free(&payload);
}

static void every_end_reason_has_a_name(void **state)
{
	(void)state;
	for (unsigned int reason = 1; reason <= END_ROTATED; reason++)
		assert_string_not_equal(end_reason_name(reason), "unknown");
	assert_string_equal(end_reason_name(END_UNKNOWN), "unknown");
	assert_string_equal(end_reason_name(END_ROTATED + 1), "unknown");
	assert_string_equal(end_reason_name(UINT32_MAX), "unknown");
}

/* Sets a payload of a place with the number, and fields of these sizes. */
static void fill_fields(struct buffer *payload, uint64_t number, const size_t sizes[2])
{
	static const uint8_t zeros[8192];

	buffer_reset(payload);
	place_put(payload, 1234567, number);
	for (unsigned int i = 0; i < 2; i++)
		if (sizes[i])
			field_put(payload, 20 + i, zeros, sizes[i]);
}

/* Copies a chunk of fields of these sizes to another place, and decodes the copy. Returns
 * the end of both chunks that is equal, bytes. */
static size_t expect_moved(enum chunk_level level, const size_t sizes[2], bool is_whole)
{
	static const uint64_t numbers[] = {0, 127, 128, 1 << 20, UINT64_MAX};
	struct buffer old = {0}, payload = {0}, file = {0}, again = {0};
	ZSTD_CCtx *context = chunk_context(level), *fast = chunk_context(CHUNK_FAST);
	struct chunk_header header;
	struct chunk_read read;
	size_t same = 0;

	fill_fields(&old, 500, sizes);
	assert_int_equal(chunk_encode_with(context, &file, CHUNK_SAMPLES, &old), 0);
	read = (struct chunk_read){cursor_of(&old),
				   is_whole ? cursor_of(&file) : (struct cursor){0}};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		struct buffer moved = {0};

		fill_fields(&payload, numbers[i], sizes);
		assert_int_equal(
			chunk_encode_moved(fast, &moved, CHUNK_SAMPLES, &payload, &read),
			0);
		assert_true(chunk_header_decode(moved.data, &header));
		assert_int_equal(header.stored, moved.size - CHUNK_HEADER_SIZE);
		assert_true(
			chunk_decode(&header, moved.data + CHUNK_HEADER_SIZE, &again));
		assert_int_equal(again.size, payload.size);
		assert_memory_equal(again.data, payload.data, payload.size);
		for (same = 0; same < moved.size && same < file.size &&
			       moved.data[moved.size - 1 - same] ==
				       file.data[file.size - 1 - same];)
			same++;
		buffer_free(&moved);
	}
	ZSTD_freeCCtx(context);
	ZSTD_freeCCtx(fast);
	buffer_free(&old);
	buffer_free(&payload);
	buffer_free(&file);
	buffer_free(&again);
	return same;
}

static void a_chunk_that_moves_keeps_its_compressed_bytes(void **state)
{
	(void)state;
	/* The second field is a frame of its own, which is copied. */
	assert_true(expect_moved(CHUNK_SMALL, (size_t[]){600, 8000}, true) >= 10);
	expect_moved(CHUNK_SMALL, (size_t[]){600, 8000}, false);
	/* One frame, and a chunk that is too small to be compressed. */
	expect_moved(CHUNK_SMALL, (size_t[]){300, 0}, true);
	expect_moved(CHUNK_SMALL, (size_t[]){1, 0}, true);
	expect_moved(CHUNK_SMALL, (size_t[]){0, 0}, true);
}

/* Frames of another writer: of a few bytes, empty, of unknown size. */
static void a_chunk_of_any_frames_moves(void **state)
{
	struct buffer old = {0}, payload = {0}, file = {0}, moved = {0}, again = {0};
	ZSTD_CCtx *context = chunk_context(CHUNK_FAST);
	struct chunk_header header;
	struct chunk_read read;

	(void)state;
	fill_fields(&old, 500, (size_t[]){600, 8000});
	fill_fields(&payload, 501, (size_t[]){600, 8000});
	for (size_t first = 0; first < 80; first += 3) {
		for (int has_size = 0; has_size < 2; has_size++) {
			size_t size = 0, part[] = {first, old.size - first};
			uint8_t stored[1024];
			const uint8_t *from = old.data;

			ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, has_size);
			for (unsigned int i = 0; i < 2; from += part[i++])
				size += ZSTD_compress2(context, stored + size,
						       sizeof(stored) - size, from,
						       part[i]);
			buffer_reset(&file);
			put_chunk(&file, CHUNK_SAMPLES, CHUNK_ZSTD, stored,
				  (uint32_t)size, (uint32_t)old.size);
			read = (struct chunk_read){cursor_of(&old), cursor_of(&file)};
			buffer_reset(&moved);
			assert_int_equal(chunk_encode_moved(context, &moved,
							    CHUNK_SAMPLES, &payload,
							    &read),
					 0);
			assert_true(chunk_header_decode(moved.data, &header));
			assert_true(chunk_decode(&header, moved.data + CHUNK_HEADER_SIZE,
						 &again));
			assert_int_equal(again.size, payload.size);
			assert_memory_equal(again.data, payload.data, payload.size);
		}
	}
	ZSTD_freeCCtx(context);
	buffer_free(&old);
	buffer_free(&payload);
	buffer_free(&file);
	buffer_free(&moved);
	buffer_free(&again);
}

int main(void)
{
	alarm(300);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(payloads_of_any_size_round_trip),
		cmocka_unit_test(payloads_are_compressed_only_if_that_makes_them_smaller),
		cmocka_unit_test(a_payload_above_the_limit_is_not_written),
		cmocka_unit_test(a_header_with_any_changed_bit_is_refused),
		cmocka_unit_test(a_header_with_too_large_a_size_is_refused),
		cmocka_unit_test(stored_bytes_of_the_wrong_size_are_damage),
		cmocka_unit_test(an_unknown_encoding_is_refused),
		cmocka_unit_test(a_zstd_bomb_is_refused),
		cmocka_unit_test(fields_round_trip),
		cmocka_unit_test(a_chunk_that_moves_keeps_its_compressed_bytes),
		cmocka_unit_test(a_chunk_of_any_frames_moves),
		cmocka_unit_test(a_field_longer_than_its_payload_is_damage),
		cmocka_unit_test(a_description_round_trips),
		cmocka_unit_test(missing_fields_are_0_or_empty),
		cmocka_unit_test(unknown_fields_are_skipped_anywhere),
		cmocka_unit_test(long_texts_are_truncated_and_terminated),
		cmocka_unit_test(a_number_or_uuid_of_the_wrong_length_is_damage),
		cmocka_unit_test(damaged_descriptions_are_safe),
		cmocka_unit_test(every_end_reason_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
