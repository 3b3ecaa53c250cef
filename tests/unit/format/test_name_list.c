/* SPDX-License-Identifier: BSD-3-Clause */

/* Names in recordings: their chunk, the writer's order and limits, look-ups. */

#define _GNU_SOURCE 1
#include "tests/unit/test_recording.h"

#include "format/name_list.h"
#include "report/load/load.h"
#include "report/load/recorded.h"

#define TEXT(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

#define NAME(domain_, address_, offset_, name_, dso_)                            \
	{                                                                        \
		.domain = (domain_), .address = (address_), .offset = (offset_), \
		.name = TEXT(name_), .dso = TEXT(dso_)                           \
	}

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

/* As they are stored from symbol files: mangled, with lines, for all domains. */
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
		{"", 0, 2},		/* there, but empty */
		{"\x80", 1, 3},		/* a truncated number */
		{"", 0, 4},		/* too short */
		{"\x00", 1, 5},		/* an empty name */
		{"\x02\x00x", 3, 5},	/* ended by its 0 byte */
		{"\x02x", 2, 5},	/* longer than the column */
		{"\x05x", 2, 6},	/* the same */
		{"", 0, 6},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		FIELD(&payload, 1, "\x01");
		FIELD(&payload, 3, "\x04");
		FIELD(&payload, 5, "\x01x");
		put_field(&payload, bad[i].tag, bad[i].bytes, bad[i].size);
		assert_int_equal(read_and_reset(&payload), -1);
	}

	/* A name of the maximum length, and one byte longer. */
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
	/* The next chunk has nothing of this one. */
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

/* The kind, the number of lines and the columns of lines of a name. */
static const struct {
	const char *kind, *total, *count, *function, *path, *line;
	int status;
} line_columns[] = {
	{"\x07", "\x01", "\x01", "\x01g", "\x01p", "\x05", 0},
	{"\x7f", "\x01", "\x01", NULL, NULL, "\x05", 0},    /* unknown bits; no texts */
	{NULL, "\x02", "\x01", NULL, NULL, "\x05", 0},	    /* more than are used */
	{NULL, NULL, "\x01", NULL, NULL, "\x05", -1},	    /* more than there are */
	{NULL, "\x41", "\x41", NULL, NULL, "\x05", -1},	    /* 65 of a name */
	{NULL, "\x81\x80\x40", NULL, NULL, NULL, NULL, -1}, /* 1,048,577 of all */
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
	assert_int_equal(recorded_add(recorded, reader), 0);
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

	/* Of one domain; the other domains, and other recordings, have no name there. */
	assert_true(recorded_find(recorded, 10 + 1, 0x2005, &symbol));
	assert_true(symbol.is_last);
	assert_null(symbol.lines[0].path);
	assert_false(recorded_find(recorded, 10, 0x2005, &symbol));
	assert_false(recorded_find(recorded, 9, 0x2004, &symbol));
	/* From another tool's text, it is left as it is. */
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
	assert_int_equal(recorded_add(recorded, reader), 0);
	assert_int_equal(recorded_scope(recorded, 12), 10);
	assert_int_equal(recorded_scope(recorded, 9), 0);
	assert_false(recorded_by_domain(recorded));
	buffer_reset(&payload);
	make_payload(&payload);
	assert_int_equal(name_list_read(&reader, cursor_of(&payload)), 0);
	assert_int_equal(recorded_add(recorded, reader), 0);
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
	assert_int_equal(recorded_add(recorded, reader), 0);
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
	assert_int_equal(recorded_add(recorded, reader), 0);
	assert_true(recorded_find(recorded, 0, 5, &symbol));
	assert_string_equal(symbol.name, "first");
	assert_int_equal(symbol.start, 4);
	recorded_free(recorded);
	name_list_free(&list);
	buffer_free(&payload);
}

/* The types of all chunks of a file, as digits. */
static void read_types(int fd, char *types)
{
	struct reader *reader = reader_new(fd);
	struct cursor payload;
	struct error err;
	unsigned int type;

	lseek(fd, 0, SEEK_SET);
	while (reader_next(reader, &type, &payload, &err) > 0)
		*types++ = (char)('0' + type);
	*types = 0;
	reader_free(reader);
}

static void names_are_written_before_their_samples(void **state)
{
	struct recording_info info = test_info();
	struct recording_domain domain = test_domain();
	struct recording_end end = {0};
	uint64_t address[] = {0x1104};
	const struct sample sample = {.weight = 1,
				      .chain = {address, 1, CHAIN_WHOLE, false}};
	int fd = file_with(NULL, 0);
	struct error err;
	struct writer *writer = writer_new(fd, &info, &domain, 1, &err);
	char types[32];

	(void)state;
	assert_int_equal(writer_sample(writer, &sample, &err), 0);
	assert_int_equal(writer_name(writer, &names[0], &err), 0);
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_sample(writer, &sample, &err), 0);
	assert_int_equal(writer_flush(writer, &err), 0);
	assert_int_equal(writer_name(writer, &names[1], &err), 0);
	assert_int_equal(writer_end(writer, &end, &err), 0);
	writer_free(writer);
	read_types(fd, types);
	assert_string_equal(types, "12"
				   "53"
				   "3"
				   "5"
				   "124");
	close(fd);
}

static void the_number_of_names_is_limited(void **state)
{
	struct recording_info info = test_info();
	static char longest[RECORDING_MAX_NAME];
	int fd = file_with(NULL, 0);
	struct error err = {""};
	struct writer *writer = writer_new(fd, &info, NULL, 0, &err);
	struct recording_name name = {.name = {longest, sizeof(longest)}, .dso = {"", 0}};
	uint64_t bytes = 0, largest = 0;
	struct name_list_reader names_reader;
	struct reader *reader;
	struct cursor payload;
	unsigned int type;

	(void)state;
	memset(longest, 'n', sizeof(longest));
	while (writer_name(writer, &name, &err) == 0)
		name.address++;
	assert_string_equal(err.text, "too many names for a recording");
	assert_int_equal(writer_flush(writer, &err), 0);
	writer_free(writer);
	lseek(fd, 0, SEEK_SET);
	reader = reader_new(fd);
	while (reader_next(reader, &type, &payload, &err) > 0) {
		uint64_t size = (uint64_t)(payload.end - payload.at);

		if (type != CHUNK_NAMES)
			continue;
		assert_int_equal(name_list_read(&names_reader, payload), 0);
		bytes += size;
		largest = size > largest ? size : largest;
	}
	assert_true(largest <= RECORDING_MAX_PAYLOAD);
	assert_true(bytes <= RECORDING_MAX_NAMES_BYTES);
	assert_true(bytes + 5 * sizeof(longest) > RECORDING_MAX_NAMES_BYTES);
	reader_free(reader);
	close(fd);
}

/* The largest name there can be still fits in a chunk, even if that is full. */
static void the_longest_lines_fit_in_a_chunk(void **state)
{
	static char longest[RECORDING_MAX_NAME];
	const struct recording_text text = {longest, sizeof(longest)};
	struct recording_line most[RECORDING_MAX_LINES];
	struct recording_name name = {.name = text, .dso = text};
	struct name_list list = {0};
	struct buffer payload = {0};

	(void)state;
	memset(longest, 'n', sizeof(longest));
	for (size_t i = 0; i < RECORDING_MAX_LINES; i++)
		most[i] = (struct recording_line){text, text, UINT32_MAX};
	while (!name_list_full(&list))
		name_list_add(&list, &name);
	name.lines = most;
	name.line_count = RECORDING_MAX_LINES;
	name_list_add(&list, &name);
	name_list_finish(&list, &payload);
	assert_true(payload.size <= RECORDING_MAX_PAYLOAD);
	name_list_free(&list);
	buffer_free(&payload);
}

static int pass_over(void *arg, struct samples_batch *batch, struct error *err)
{
	(void)arg;
	(void)batch;
	(void)err;
	return 0;
}

/* Names that compress extremely well, after @filler bytes of an unknown chunk: whether
 * they can be read, and how many names were @found. */
static int load_names(unsigned int chunks, uint32_t filler, uint64_t *found,
		      struct error *err)
{
	const struct recording_name name = {.name = TEXT("n")};
	const struct load_visitor visitor = {.samples = pass_over};
	struct name_list list = {0};
	struct buffer payload = {0}, file = {0};
	struct summary summary = {0};
	struct input input = {.name = "input"};
	int status;

	fill_random(&payload, filler);
	put_plain_chunk(&file, 77, &payload);
	buffer_reset(&payload);
	for (size_t i = 0; i < 100000; i++)
		name_list_add(&list, &name);
	name_list_finish(&list, &payload);
	for (unsigned int i = 0; i < chunks; i++)
		assert_int_equal(chunk_encode(&file, CHUNK_NAMES, &payload), 0);
	input.fd = file_with(file.data, file.size);
	status = load_recording(&input, 0, &summary, &visitor, err);
	*found = summary.names;
	close(input.fd);
	summary_free(&summary);
	name_list_free(&list);
	buffer_free(&payload);
	buffer_free(&file);
	return status;
}

static void the_size_of_a_recording_limits_its_names(void **state)
{
	uint64_t found;
	struct error err;

	(void)state;
	assert_int_equal(load_names(2, 1, &found, &err), 0);
	assert_int_equal(found, 200000);
	assert_int_equal(load_names(3, 1, &found, &err), -1);
	assert_non_null(
		strstr(err.text, "input contains more than a recording of its size"));
	assert_int_equal(load_names(3, 100000, &found, &err), 0);
	assert_int_equal(found, 300000);
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
		cmocka_unit_test(names_are_written_before_their_samples),
		cmocka_unit_test(the_number_of_names_is_limited),
		cmocka_unit_test(the_longest_lines_fit_in_a_chunk),
		cmocka_unit_test(the_size_of_a_recording_limits_its_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
