/* SPDX-License-Identifier: BSD-3-Clause */

/* Names in recordings: their chunks and look-ups. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/name_list.h"
#include "report/load/recorded.h"
#include "tests/unit/format/test_recorded_name.h"

static const struct recording_name names[] = {
	NAME(0, 0x1104, 4, "middle", "web.elf"),
	NAME(0, 0x1000, 0, "with blanks; and more", ""),
	NAME(65535, UINT64_MAX, UINT64_MAX, "f", "g"),
	NAME(1, 0x1104, 0xf04, "other", ""),
};

static const struct recording_line lines[] = {
	{TEXT("_ZN4shop6squareEi"), TEXT("/src/shop.cc"), 15},
	{TEXT(""), TEXT("shop.h"), UINT32_MAX},
	{TEXT(""), TEXT(""), 0},
};

/* Names as stored from symbol files: mangled, with lines, for all domains. */
static const struct recording_name symbols[] = {
	{.address = 0x2004,
	 .offset = 4,
	 .name = TEXT("_ZN4shop4Cart3addEi"),
	 .dso = TEXT("shop"),
	 .is_symbol = true,
	 .is_common = true,
	 .lines = lines,
	 .line_count = 2},
	{.domain = 1,
	 .address = 0x2005,
	 .name = TEXT("main"),
	 .dso = TEXT(""),
	 .is_symbol = true,
	 .is_last = true,
	 .lines = lines + 2,
	 .line_count = 1},
	{.address = 0x2006, .name = TEXT("_ZN4shop4Cart3addEi"), .dso = TEXT("text")},
};

#define COUNT (sizeof(names) / sizeof(names[0]))

static void make_payload(struct buffer *payload)
{
	struct name_list list = {0};

	for (size_t i = 0; i < COUNT; i++)
		name_list_add(&list, &names[i]);
	name_list_finish(&list, payload);
	name_list_free(&list);
}

static void expect_text(struct recording_text text, struct recording_text wanted)
{
	assert_int_equal(text.length, wanted.length);
	assert_memory_equal(text.at, wanted.at, wanted.length);
}

static void names_round_trip(void **state)
{
	struct buffer payload = {0};
	struct name_list_reader reader;
	struct recording_name name;

	(void)state;
	make_payload(&payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(reader.left, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		assert_true(name_list_next(&reader, &name));
		assert_int_equal(name.domain, names[i].domain);
		assert_int_equal(name.address, names[i].address);
		assert_int_equal(name.offset, names[i].offset);
		expect_text(name.name, names[i].name);
		expect_text(name.dso, names[i].dso);
	}
	assert_false(name_list_next(&reader, &name));
	buffer_free(&payload);
}

static void put_field(struct buffer *payload, unsigned int tag, const char *bytes,
		      size_t size)
{
	field_put(payload, tag, bytes, size);
}

#define FIELD(payload, tag, bytes) put_field(payload, tag, bytes, sizeof(bytes) - 1)

static int read_and_reset(struct buffer *payload)
{
	struct name_list_reader reader;
	int status = name_list_read(&reader, cursor_of(payload));

	buffer_reset(payload);
	return status;
}

static void missing_optional_columns_are_0(void **state)
{
	struct buffer payload = {0};
	struct name_list_reader reader;
	struct recording_name name;

	(void)state;
	FIELD(&payload, 1, "\x01");
	FIELD(&payload, 3, "\x04");
	FIELD(&payload, 5, "\x01x");
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_true(name_list_next(&reader, &name));
	assert_int_equal(name.domain, 0);
	assert_int_equal(name.address, 2);
	assert_int_equal(name.offset, 0);
	assert_int_equal(name.dso.length, 0);
	buffer_free(&payload);
}

static void invalid_name_lists_are_damage(void **state)
{
	struct buffer payload = {0};
	static char longest[3 + RECORDING_MAX_NAME + 1];

	(void)state;
	for (unsigned int missing = 0; missing < 3; missing++) {
		FIELD(&payload, 1, "\x02");
		if (missing != 1)
			FIELD(&payload, 3, "\x04\x02");
		if (missing != 2)
			FIELD(&payload, 5, "\x01x\x01y");
		assert_int_equal(read_and_reset(&payload), missing ? -1 : 0);
	}
	FIELD(&payload, 1, "\x81\x80\x40"); /* 1,048,577 */
	assert_int_equal(read_and_reset(&payload), -1);

	static const struct {
		const char *bytes;
		size_t size;
		unsigned int tag;
	} bad[] = {
		{"\x80\x80\x04", 3, 2}, /* domain 65,536 */
		{"", 0, 2},		/* present but empty */
		{"\x80", 1, 3},		/* a truncated number */
		{"", 0, 4},		/* too short */
		{"\x00", 1, 5},		/* an empty name */
		{"\x02\x00x", 3, 5},	/* a name whose first byte is 0 */
		{"\x02x", 2, 5},	/* longer than the column */
		{"\x05x", 2, 6},	/* longer than the column */
		{"", 0, 6},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FIELD(&payload, 1, "\x01");
		FIELD(&payload, 3, "\x04");
		FIELD(&payload, 5, "\x01x");
		put_field(&payload, bad[i].tag, bad[i].bytes, bad[i].size);
		assert_int_equal(read_and_reset(&payload), -1);
	}

	/* A name of the maximum length, then a name that is one byte longer. */
	memset(longest, 'n', sizeof(longest));
	for (unsigned int more = 0; more < 2; more++) {
		memcpy(longest, more ? "\x80\x80\x04" : "\xff\xff\x03", 3);
		FIELD(&payload, 1, "\x01");
		FIELD(&payload, 3, "\x04");
		put_field(&payload, 5, longest, sizeof(longest) - 1 + more);
		assert_int_equal(read_and_reset(&payload), more ? -1 : 0);
	}
	buffer_free(&payload);
}

static void expect_lines(const struct recording_name *name,
			 const struct recording_name *wanted)
{
	assert_int_equal(name->line_count, wanted->line_count);
	for (uint32_t i = 0; i < name->line_count; i++) {
		expect_text(name->lines[i].function, wanted->lines[i].function);
		expect_text(name->lines[i].path, wanted->lines[i].path);
		assert_int_equal(name->lines[i].line, wanted->lines[i].line);
	}
}

static void make_symbols(struct buffer *payload)
{
	struct name_list list = {0};

	for (size_t i = 0; i < 3; i++)
		name_list_add(&list, &symbols[i]);
	name_list_finish(&list, payload);
	/* The next chunk starts empty. */
	name_list_add(&list, &names[0]);
	assert_int_equal(list.lines, 0);
	assert_false(list.has_kinds);
	name_list_free(&list);
}

static void lines_round_trip(void **state)
{
	struct buffer payload = {0};
	struct name_list_reader reader;
	struct recording_name name;

	(void)state;
	make_symbols(&payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(name_list_count(cursor_of(&payload)), 3 + 3);
	for (size_t i = 0; i < 3; i++) {
		assert_true(name_list_next(&reader, &name));
		assert_int_equal(name.address, symbols[i].address);
		assert_int_equal(name.is_symbol, symbols[i].is_symbol);
		assert_int_equal(name.is_common, symbols[i].is_common);
		assert_int_equal(name.is_last, symbols[i].is_last);
		expect_lines(&name, &symbols[i]);
	}
	assert_false(name_list_next(&reader, &name));
	buffer_free(&payload);
}

/* A name's kind, number of lines, and columns of lines. */
static const struct {
	const char *kind, *total, *count, *function, *path, *line;
	int status;
} line_columns[] = {
	{"\x07", "\x01", "\x01", "\x01g", "\x01p", "\x05", 0},
	{"\x7f", "\x01", "\x01", NULL, NULL, "\x05", 0}, /* unknown bits; no texts */
	{NULL, "\x02", "\x01", NULL, NULL, "\x05", 0}, /* more lines than the name uses */
	{NULL, NULL, "\x01", NULL, NULL, "\x05", -1},  /* more lines than there are */
	{NULL, "\x41", "\x41", NULL, NULL, "\x05", -1},	    /* 65 lines of a name */
	{NULL, "\x81\x80\x40", NULL, NULL, NULL, NULL, -1}, /* 1,048,577 lines in all */
	{NULL, "\x01", "\x01", NULL, NULL, NULL, -1},	    /* no column of lines */
	{NULL, "\x01", "\x01", "\x02g", NULL, "\x05", -1},
	{NULL, "\x01", "\x01", NULL, "\x02p", "\x05", -1},
	{NULL, "\x01", "\x01", NULL, NULL, "\xff\xff\xff\xff\x10", -1}, /* 2^32 */
	{"\x80", NULL, NULL, NULL, NULL, NULL, -1},
	{NULL, NULL, "\x80", NULL, NULL, NULL, -1},
};

static void put_if(struct buffer *payload, unsigned int tag, const char *bytes)
{
	if (bytes)
		put_field(payload, tag, bytes, strlen(bytes));
}

static void invalid_lines_are_damage(void **state)
{
	struct buffer payload = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(line_columns) / sizeof(line_columns[0]); i++) {
		FIELD(&payload, 1, "\x01");
		FIELD(&payload, 3, "\x04");
		FIELD(&payload, 5, "\x01x");
		put_if(&payload, 7, line_columns[i].kind);
		put_if(&payload, 8, line_columns[i].total);
		put_if(&payload, 9, line_columns[i].count);
		put_if(&payload, 10, line_columns[i].function);
		put_if(&payload, 11, line_columns[i].path);
		put_if(&payload, 12, line_columns[i].line);
		assert_int_equal(read_and_reset(&payload), line_columns[i].status);
	}
	buffer_free(&payload);
}

static void symbols_are_looked_up(void **state)
{
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	struct name_list_reader reader;
	struct buffer payload = {0};
	struct symbol symbol;

	(void)state;
	make_symbols(&payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(recorded_begin(recorded, 10), 0);
	assert_int_equal(recorded_add(recorded, NULL, reader), 0);
	assert_true(recorded_find(recorded, 10 + 5, 0x2004, &symbol));
	assert_string_equal(symbol.name, "shop::Cart::add(int)");
	assert_string_equal(symbol.mangled, "_ZN4shop4Cart3addEi");
	assert_int_equal(symbol.start, 0x2000);
	assert_null(symbol.file);
	assert_false(symbol.is_last);
	assert_int_equal(symbol.line_count, 2);
	assert_string_equal(symbol.lines[0].function, "shop::square(int)");
	assert_string_equal(symbol.lines[0].path, "/src/shop.cc");
	assert_string_equal(symbol.lines[0].file, "shop.cc");
	assert_int_equal(symbol.lines[0].line, 15);
	assert_null(symbol.lines[1].function);
	assert_string_equal(symbol.lines[1].file, "shop.h");

	/* A name of one domain; other domains and other recordings have no name there. */
	assert_true(recorded_find(recorded, 10 + 1, 0x2005, &symbol));
	assert_true(symbol.is_last);
	assert_null(symbol.lines[0].path);
	assert_false(recorded_find(recorded, 10, 0x2005, &symbol));
	assert_false(recorded_find(recorded, 9, 0x2004, &symbol));
	/* A name imported from another tool's text is not demangled. */
	assert_true(recorded_find(recorded, 10, 0x2006, &symbol));
	assert_string_equal(symbol.name, "_ZN4shop4Cart3addEi");
	assert_null(symbol.mangled);
	recorded_free(recorded);
	buffer_free(&payload);
}

static void scopes_follow_the_names(void **state)
{
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	struct name_list_reader reader;
	struct name_list list = {0};
	struct buffer payload = {0};

	(void)state;
	assert_int_equal(recorded_begin(recorded, 10), 0);
	assert_int_equal(recorded_scope(recorded, 12), 0);
	name_list_add(&list, &symbols[0]);
	name_list_finish(&list, &payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(recorded_add(recorded, NULL, reader), 0);
	assert_int_equal(recorded_scope(recorded, 12), 10);
	assert_int_equal(recorded_scope(recorded, 9), 0);
	assert_false(recorded_by_domain(recorded));
	buffer_reset(&payload);
	make_payload(&payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(recorded_add(recorded, NULL, reader), 0);
	assert_true(recorded_by_domain(recorded));
	assert_int_equal(recorded_scope(recorded, 12), 12);
	recorded_free(recorded);
	name_list_free(&list);
	buffer_free(&payload);
}

static void programs_are_kept_by_recording(void **state)
{
	struct recording_program program = {
		.name = "web\n.elf",
		.path = "/guests/web.elf",
		.domain = "web",
		.build_id = "00ff3a",
		.has_lines = 1,
		.segments = {{0x1000, 0x100, 0}, {UINT64_MAX, 2, 0}, {1, 1, 1}},
	};
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	struct recorded_program *const *list;

	(void)state;
	assert_int_equal(recorded_add_program(recorded, &program), 0);
	assert_int_equal(recorded_begin(recorded, 3), 0);
	program.build_id[0] = 'x';
	assert_int_equal(recorded_add_program(recorded, &program), 0);
	assert_int_equal(recorded_programs(recorded, &list), 2);
	assert_string_equal(list[0]->name, "web?.elf");
	assert_string_equal(list[0]->domain, "web");
	assert_int_equal(list[0]->file.build_id_size, 3);
	assert_memory_equal(list[0]->file.build_id, "\x00\xff\x3a", 3);
	/* The second segment ends beyond the last address. */
	assert_int_equal(list[0]->file.segment_count, 1);
	assert_true(recorded_is_with(recorded, list[0], 2));
	assert_false(recorded_is_with(recorded, list[0], 3));
	assert_int_equal(list[1]->file.build_id_size, 0);
	assert_string_equal(list[1]->build_id, "");
	assert_true(recorded_is_with(recorded, list[1], 3));
	recorded_free(recorded);
}

static void names_are_looked_up_by_domain(void **state)
{
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	struct name_list_reader reader;
	struct buffer payload = {0};
	struct symbol symbol;

	(void)state;
	assert_non_null(recorded);
	assert_int_equal(recorded_scope(recorded, 7), 0);
	assert_false(recorded_find(recorded, 0, 0x1104, &symbol));
	make_payload(&payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(recorded_add(recorded, NULL, reader), 0);
	assert_int_equal(recorded_scope(recorded, 7), 7);

	assert_true(recorded_find(recorded, 0, 0x1104, &symbol));
	assert_string_equal(symbol.name, "middle");
	assert_string_equal(symbol.dso, "web.elf");
	assert_int_equal(symbol.start, 0x1100);
	assert_true(recorded_find(recorded, 1, 0x1104, &symbol));
	assert_string_equal(symbol.name, "other");
	assert_string_equal(symbol.dso, "");
	assert_true(recorded_find(recorded, 65535, UINT64_MAX, &symbol));
	assert_int_equal(symbol.start, 0);
	assert_false(recorded_find(recorded, 2, 0x1104, &symbol));
	assert_false(recorded_find(recorded, 0, 0x1103, &symbol));
	assert_false(recorded_find(recorded, 0, 0x1105, &symbol));
	recorded_free(recorded);
	buffer_free(&payload);
}

static void the_first_name_of_a_place_is_used(void **state)
{
	static const struct recording_name twice[] = {
		NAME(0, 5, 1, "first", ""),
		NAME(0, 5, 2, "second", ""),
	};
	struct recorded *recorded = recorded_new(DEMANGLE_FULL);
	struct name_list_reader reader;
	struct name_list list = {0};
	struct buffer payload = {0};
	struct symbol symbol;

	(void)state;
	name_list_add(&list, &twice[0]);
	name_list_add(&list, &twice[1]);
	name_list_finish(&list, &payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(recorded_add(recorded, NULL, reader), 0);
	assert_true(recorded_find(recorded, 0, 5, &symbol));
	assert_string_equal(symbol.name, "first");
	assert_int_equal(symbol.start, 4);
	recorded_free(recorded);
	name_list_free(&list);
	buffer_free(&payload);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_round_trip),
		cmocka_unit_test(missing_optional_columns_are_0),
		cmocka_unit_test(invalid_name_lists_are_damage),
		cmocka_unit_test(lines_round_trip),
		cmocka_unit_test(invalid_lines_are_damage),
		cmocka_unit_test(names_are_looked_up_by_domain),
		cmocka_unit_test(symbols_are_looked_up),
		cmocka_unit_test(scopes_follow_the_names),
		cmocka_unit_test(programs_are_kept_by_recording),
		cmocka_unit_test(the_first_name_of_a_place_is_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
