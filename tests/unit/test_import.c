/* SPDX-License-Identifier: BSD-3-Clause */

/* What the formats of import/ stand on: lines, numbers, and the samples they make. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <sys/wait.h>

#include "import/importer.h"
#include "import/lines.h"
#include "import/scan.h"
#include "report/recorded.h"

static struct recording_text text_of(const char *text)
{
	return (struct recording_text){text, strlen(text)};
}

static void numbers_are_whole_and_fit(void **state)
{
	uint64_t number = 7;

	(void)state;
	assert_true(scan_hex(text_of("fFffFFffffffffff"), &number));
	assert_int_equal(number, UINT64_MAX);
	assert_true(scan_decimal(text_of("18446744073709551615"), &number));
	assert_int_equal(number, UINT64_MAX);
	number = 7;
	assert_false(scan_hex(text_of("10000000000000000"), &number));
	assert_false(scan_decimal(text_of("18446744073709551616"), &number));
	assert_false(scan_decimal(text_of("99999999999999999999"), &number));
	assert_false(scan_decimal(text_of(""), &number));
	assert_false(scan_decimal(text_of("1a"), &number));
	assert_false(scan_decimal(text_of("-1"), &number));
	assert_false(scan_hex(text_of("0x10"), &number));
	assert_false(scan_address(text_of("10"), &number));
	assert_false(scan_address(text_of("0x"), &number));
	assert_int_equal(number, 7);
	assert_true(scan_address(text_of("0x10"), &number));
	assert_int_equal(number, 16);
}

static void names_end_at_their_last_offset(void **state)
{
	struct recording_text name;
	uint64_t offset;

	(void)state;
	assert_true(scan_name_offset(text_of("a b+0x1+0x2f"), &name, &offset));
	assert_true(scan_is(name, "a b+0x1"));
	assert_int_equal(offset, 0x2f);
	assert_false(scan_name_offset(text_of("+0x1"), &name, &offset));
	assert_false(scan_name_offset(text_of("a+1"), &name, &offset));
	assert_false(scan_name_offset(text_of("a+0x"), &name, &offset));
	assert_false(scan_name_offset(text_of("a+0x1 "), &name, &offset));
	assert_false(scan_name_offset(text_of(""), &name, &offset));
}

/* A pipe out of which the text comes byte by byte. */
static int slow_pipe(const char *text, size_t size)
{
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	if (fork() == 0) {
		for (size_t i = 0; i < size; i++)
			if (write(ends[1], text + i, 1) != 1)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static void lines_come_whole_from_a_slow_pipe(void **state)
{
	static const char text[] = "first\r\n\nthird\n\rlast";
	static const char *const wanted[] = {"first", "", "third", "\rlast"};
	int fd = slow_pipe(text, sizeof(text) - 1), status;
	struct recording_text line;
	struct lines lines;
	struct error err;
	size_t ahead = 0;

	(void)state;
	assert_int_equal(lines_init(&lines, fd), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(lines_ahead(&lines, &ahead, &line, &err), 1);
		assert_true(scan_is(line, wanted[i]));
	}
	assert_int_equal(lines_ahead(&lines, &ahead, &line, &err), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(lines_next(&lines, &line, &err), 1);
		assert_true(scan_is(line, wanted[i]));
		assert_int_equal(lines.number, i + 1);
	}
	assert_int_equal(lines_next(&lines, &line, &err), 0);
	lines_free(&lines);
	close(fd);
	wait(&status);
}

static void lines_have_a_longest(void **state)
{
	char *text = malloc(2 * LINES_MAX + 3);
	struct recording_text line;
	struct lines lines;
	struct error err;
	int fd;

	(void)state;
	memset(text, 'x', 2 * LINES_MAX + 3);
	text[LINES_MAX] = '\n';
	fd = file_with(text, 2 * LINES_MAX + 2);
	assert_int_equal(lines_init(&lines, fd), 0);
	assert_int_equal(lines_next(&lines, &line, &err), 1);
	assert_int_equal(line.length, LINES_MAX);
	assert_int_equal(lines_next(&lines, &line, &err), -1);
	assert_string_equal(err.text, "is longer than 1048576 bytes");
	lines_free(&lines);
	close(fd);
	free(text);
}

/* Imports one sample of those frames, and gives the addresses of its chain. */
static void import_frames(const struct import_frame *frames, size_t count,
			  uint64_t address[RECORDING_MAX_DEPTH],
			  struct recorded *recorded)
{
	const struct recording_info info = test_info();
	const struct import_place place = {.time = 5};
	int fd = file_with(NULL, 0);
	struct importer *importer = importer_new(fd, &info);
	struct samples_batch batch = {0};
	struct name_list_reader names;
	struct cursor payload;
	struct reader *reader;
	unsigned int type;
	struct error err;

	assert_non_null(importer);
	assert_int_equal(importer_begin(importer, &place, &err), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(importer_frame(importer, &frames[i], &err), 0);
	assert_int_equal(importer_sample(importer, 1, CHAIN_WHOLE, &err), 0);
	assert_int_equal(importer_end(importer, &err), 0);
	importer_free(importer);
	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		if (type == CHUNK_NAMES) {
			assert_int_equal(name_list_read(&names, payload), 0);
			assert_int_equal(recorded_add(recorded, names, 0), 0);
		}
		if (type == CHUNK_SAMPLES)
			assert_int_equal(samples_decode(payload, &batch), 0);
	}
	assert_int_equal(batch.count, 1);
	assert_int_equal(sample_of(&batch, 0, address).chain.count, count);
	samples_batch_free(&batch);
	reader_free(reader);
	close(fd);
}

static void names_without_addresses_get_some(void **state)
{
	const struct import_frame frames[] = {
		{.name = text_of("a"), .offset = 4},
		{.name = text_of("a"), .offset = 5},
		{.name = text_of("a"), .offset = 6},
		{.name = text_of("a"), .offset = 5},
		{.name = text_of("b"), .offset = 0},
		{.name = text_of("a"), .offset = 5, .dso = text_of("d")},
	};
	struct recorded *recorded = recorded_new();
	uint64_t address[RECORDING_MAX_DEPTH];
	struct symbol symbol;

	(void)state;
	import_frames(frames, 6, address, recorded);
	/* A caller is looked up a byte before, so a+5 is where the sampled a+4 is. */
	assert_int_equal(address[1], address[0] + 1);
	assert_int_equal(address[3], address[1]);
	assert_int_not_equal(address[2], address[1]);
	assert_int_not_equal(address[5], address[1]);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(address[i] >> 60, 4);
		assert_true(recorded_find(recorded, 0, address[i] - (i > 0), &symbol));
		assert_string_equal(symbol.name, i == 4 ? "b" : "a");
		assert_int_equal(address[i] - symbol.start, frames[i].offset);
	}
	recorded_free(recorded);
}

static void an_address_keeps_its_first_name(void **state)
{
	const struct import_frame frames[] = {
		{.name = text_of("leaf"), .has_address = true, .address = 0x1000},
		{.name = text_of("main"), .has_address = true, .address = 0x1000},
		{.name = text_of("inlined"), .has_address = true, .address = 0x1000},
		{.has_address = true, .address = 0x2000},
		{.name = text_of("zero"), .has_address = true, .address = 0},
		/* As if it were made up. */
		{.name = text_of("odd"),
		 .has_address = true,
		 .address = 0x4000000000000010},
	};
	struct recorded *recorded = recorded_new();
	uint64_t address[RECORDING_MAX_DEPTH];
	struct symbol symbol;

	(void)state;
	import_frames(frames, 6, address, recorded);
	assert_int_equal(address[0], 0x1000);
	assert_int_equal(address[1], 0x1000);
	assert_int_not_equal(address[2], 0x1000);
	assert_int_equal(address[3], 0x2000);
	assert_false(recorded_find(recorded, 0, 0x1fff, &symbol));
	for (size_t i = 0; i < 6; i++) {
		if (i == 3)
			continue;
		assert_true(recorded_find(recorded, 0, address[i] - (i > 0), &symbol));
		assert_memory_equal(symbol.name, frames[i].name.at,
				    frames[i].name.length);
	}
	recorded_free(recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_whole_and_fit),
		cmocka_unit_test(names_end_at_their_last_offset),
		cmocka_unit_test(lines_come_whole_from_a_slow_pipe),
		cmocka_unit_test(lines_have_a_longest),
		cmocka_unit_test(names_without_addresses_get_some),
		cmocka_unit_test(an_address_keeps_its_first_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
