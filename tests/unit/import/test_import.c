/* SPDX-License-Identifier: BSD-3-Clause */

/* The functions that all formats in import/ use: lines, numbers, and making samples. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include <sys/wait.h>

#include "import/importer.h"
#include "import/lines.h"
#include "import/scan.h"
#include "report/load/recorded.h"

static struct recording_text text_of(const char *text)
{
	return (struct recording_text){text, strlen(text)};
}

static void numbers_are_integers_of_64_bits(void **state)
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

static void fractions_are_rounded(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
	} good[] = {{"7", 7},	 {"7.", 7},    {"1.5", 2},
		    {"1.49", 1}, {"0.999", 1}, {"18446744073709551615.9", UINT64_MAX}};
	static const char *const bad[] = {"",	 ".",	".5",	"1.5.",
					  "1.x", "1e3", "-1.5", "18446744073709551616.0"};
	uint64_t number = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(scan_rounded(text_of(good[i].text), &number));
		assert_int_equal(number, good[i].number);
	}
	number = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(scan_rounded(text_of(bad[i]), &number));
	assert_int_equal(number, 7);
}

static void fixed_points_are_in_units_of_the_last_place(void **state)
{
	static const struct {
		const char *text;
		uint64_t number;
	} good[] = {{"7", 7000},
		    {"7.", 7000},
		    {"0.071", 71},
		    {"1.5", 1500},
		    {"18446744073709550.999", 18446744073709550999u}};
	static const char *const bad[] = {"",
					  ".",
					  ".5",
					  "1.5.",
					  "1.x",
					  "-1.5",
					  "1 ",
					  "1.0000",
					  "18446744073709551",
					  "18446744073709551616"};
	uint64_t number = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(scan_fixed(text_of(good[i].text), 3, &number));
		assert_int_equal(number, good[i].number);
	}
	number = 7;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(scan_fixed(text_of(bad[i]), 3, &number));
	assert_int_equal(number, 7);
}

static void names_end_before_their_last_offset(void **state)
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

/* Returns a pipe that delivers the text byte by byte. */
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

static void lines_from_a_slow_pipe_are_complete(void **state)
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

static void the_length_of_lines_is_limited(void **state)
{
	char *text = malloc(4 * LINES_MAX + 6);
	struct recording_text line;
	struct lines lines;
	struct error err;
	int fd;

	(void)state;
	memset(text, 'x', 4 * LINES_MAX);
	text[LINES_MAX] = '\n';
	strcpy(text + 4 * LINES_MAX, "\nnext");
	fd = file_with(text, 4 * LINES_MAX + 5);
	assert_int_equal(lines_init(&lines, fd), 0);
	assert_int_equal(lines_next(&lines, &line, &err), 1);
	assert_int_equal(line.length, LINES_MAX);
	assert_int_equal(lines_next(&lines, &line, &err), LINES_BAD);
	assert_string_equal(err.text, "longer than 1048576 bytes");
	assert_int_equal(lines_next(&lines, &line, &err), 1);
	assert_true(scan_is(line, "next"));
	assert_int_equal(lines.number, 3);
	assert_int_equal(lines_next(&lines, &line, &err), 0);
	lines_free(&lines);
	close(fd);
	free(text);
}

/* Imports one sample with these frames, and returns the addresses of its chain. */
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
			assert_int_equal(recorded_add(recorded, NULL, names), 0);
		}
		if (type == CHUNK_SAMPLES)
			assert_int_equal(samples_decode(payload, &batch), 0);
	}
	assert_int_equal(batch.count, 1);
	assert_int_equal(samples_batch_sample(&batch, 0, address).chain.count, count);
	samples_batch_free(&batch);
	reader_free(reader);
	close(fd);
}

static void names_without_addresses_are_given_some(void **state)
{
	const struct import_frame frames[] = {
		{.name = text_of("a"), .offset = 4},
		{.name = text_of("a"), .offset = 5},
		{.name = text_of("a"), .offset = 6},
		{.name = text_of("a"), .offset = 5},
		{.name = text_of("b"), .offset = 0},
		{.name = text_of("a"), .offset = 5, .dso = text_of("d")},
	};
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	uint64_t address[RECORDING_MAX_DEPTH];
	struct symbol symbol;

	(void)state;
	import_frames(frames, 6, address, recorded);
	/* A caller is looked up one byte earlier: a+5 is at the place of the sampled a+4.
	 */
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
		/* An address in the range of made-up addresses. */
		{.name = text_of("odd"),
		 .has_address = true,
		 .address = 0x4000000000000010},
	};
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
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

static void an_address_keeps_its_dso(void **state)
{
	const struct import_frame frames[] = {
		{.dso = text_of("lib"), .has_address = true, .address = 0x1000},
		{.dso = text_of("lib"), .has_address = true, .address = 0x2000},
		{.name = text_of("f"), .has_address = true, .address = 0x3000},
		{.dso = text_of("other"), .has_address = true, .address = 0x3000},
		/* "[unknown]" is a name like any other. */
		{.name = text_of("[unknown]")},
	};
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	uint64_t address[RECORDING_MAX_DEPTH];
	struct symbol symbol;

	(void)state;
	import_frames(frames, 5, address, recorded);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(address[i], frames[i].address);
	for (size_t i = 0; i < 2; i++) {
		assert_true(recorded_find(recorded, 0, address[i] - (i > 0), &symbol));
		assert_null(symbol.name);
		assert_string_equal(symbol.dso, "lib");
	}
	assert_true(recorded_find(recorded, 0, 0x2fff, &symbol));
	assert_string_equal(symbol.name, "f");
	assert_true(recorded_find(recorded, 0, address[4] - 1, &symbol));
	assert_string_equal(symbol.name, "[unknown]");
	recorded_free(recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_integers_of_64_bits),
		cmocka_unit_test(fractions_are_rounded),
		cmocka_unit_test(fixed_points_are_in_units_of_the_last_place),
		cmocka_unit_test(an_address_keeps_its_dso),
		cmocka_unit_test(names_end_before_their_last_offset),
		cmocka_unit_test(lines_from_a_slow_pipe_are_complete),
		cmocka_unit_test(the_length_of_lines_is_limited),
		cmocka_unit_test(names_without_addresses_are_given_some),
		cmocka_unit_test(an_address_keeps_its_first_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
