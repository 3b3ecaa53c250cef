/* SPDX-License-Identifier: BSD-3-Clause */

/* The table of symbols: ranges, aliases, offsets. */

#include "tests/unit/symbols/test_symbols.h"

#include "symbols/table.h"

static void labels_inside_functions_are_not_functions(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list",
			       "1000 T work\n1010 t $x\n1020 t $d.3\n1030 t .L12\n"
			       "1038 t $xrv64i2p1_m2p0\n1040 T $start\n1050 T $xray\n"
			       "1058 t ..@36.out\n1060 T camlMain.code_end\n"));
	expect(f, 0x103f, "work", 0x1000);
	expect(f, 0x1040, "$start", 0x1040);
	expect(f, 0x105f, "$xray", 0x1050);
	expect_none(f, 0x1060);
}

static void the_best_alias_in_a_list_is_chosen(void **state)
{
	/* Each name is better than the next. */
	static const char *const names[] = {
		"T abc", "T ab", "T _abcd", "T __a", "t a", "W a",
	};
	struct fixture *f = *state;

	for (size_t i = 0; i + 1 < sizeof(names) / sizeof(*names); i++) {
		for (int swap = 0; swap < 2; swap++) {
			char text[128], file[32];
			uint64_t address = 0x1000 * (2 * i + (size_t)swap + 1);

			snprintf(text, sizeof(text), "%lx %s\n%lx %s\n",
				 (unsigned long)address, names[i + (size_t)swap],
				 (unsigned long)address, names[i + 1 - (size_t)swap]);
			snprintf(file, sizeof(file), "list%zu%d", i, swap);
			add_file(f, write_text(f, file, text));
			expect(f, address, names[i] + 2, address);
			assert_int_equal(last_file(f)->functions, 1);
		}
	}
}

static void the_first_of_equal_aliases_is_chosen(void **state)
{
	struct fixture *f = *state;

	add_file(f,
		 write_text(f, "list", "1000 T ab\n1000 T aa\n2000 T ca\n2000 T cb\n"));
	expect(f, 0x1000, "ab", 0x1000);
	expect(f, 0x2000, "ca", 0x2000);
}

static void aliases_share_the_largest_size(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list",
			       "0000000000001000 0000000000000010 T a\n"
			       "0000000000001000 0000000000000020 t longer\n"
			       "0000000000001000 t unsized\n"));
	expect(f, 0x101f, "a", 0x1000);
	expect_none(f, 0x1020);
}

static void nested_functions_take_precedence(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list",
			       "1000 100 outer\n"
			       "1020 40 middle\n"
			       "1030 10 inner\n"
			       "1058 10 tail\n"
			       "10f0 20 overhang\n"));
	expect(f, 0x101f, "outer", 0x1000);
	expect(f, 0x1020, "middle", 0x1020);
	expect(f, 0x103f, "inner", 0x1030);
	expect(f, 0x1040, "middle", 0x1020);
	expect(f, 0x1058, "tail", 0x1058);
	expect(f, 0x1067, "tail", 0x1058);
	expect(f, 0x1068, "outer", 0x1000);
	expect(f, 0x10ef, "outer", 0x1000);
	expect(f, 0x110f, "overhang", 0x10f0);
	expect_none(f, 0x1110);
}

static void a_return_address_belongs_to_the_caller(void **state)
{
	struct fixture *f = *state;
	const uint64_t return_address = 0x1010;

	/* A call that never returns may be its function's last instruction. */
	add_file(f, write_text(f, "list", "1000 10 caller\n1010 10 unrelated\n"));
	expect(f, return_address - 1, "caller", 0x1000);
}

static void both_ends_of_the_address_space_can_have_names(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list",
			       "0 10 zero\n"
			       "fffffffffffffff0 ff top\n"));
	expect(f, 0, "zero", 0);
	expect(f, 0xf, "zero", 0);
	expect_none(f, 0x10);
	expect_none(f, UINT64_MAX - 0x10);
	expect(f, UINT64_MAX - 0xf, "top", UINT64_MAX - 0xf);
	expect(f, UINT64_MAX, "top", UINT64_MAX - 0xf);
	assert_int_equal(last_file(f)->low, 0);
	assert_int_equal(last_file(f)->high, UINT64_MAX);
}

/* The definition: of all ranges that contain an address, the range with the latest start
 * wins. */
static void ranges_in_any_order_are_resolved_by_definition(void **state)
{
	enum {
		COUNT = 300,
		SPAN = 3000
	};
	struct fixture *f = *state;
	unsigned int random = 1;
	char text[COUNT * 24];
	size_t used = 0;
	struct {
		uint64_t start, size;
	} ranges[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		random = random * 1103515245 + 12345;
		ranges[i].start = 1 + (random >> 8) % SPAN;
		random = random * 1103515245 + 12345;
		ranges[i].size = 16 + (random >> 8) % (i % 10 ? 40 : SPAN / 2);
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%lx %lx at_%lx\n",
			(unsigned long)ranges[i].start, (unsigned long)ranges[i].size,
			(unsigned long)ranges[i].start);
	}
	add_file(f, write_text(f, "list", text));
	for (uint64_t address = 0; address < 2 * SPAN; address++) {
		uint64_t start = 0;
		char name[24];

		for (size_t i = 0; i < COUNT; i++)
			if (ranges[i].start <= address && ranges[i].start > start &&
			    address - ranges[i].start < ranges[i].size)
				start = ranges[i].start;
		snprintf(name, sizeof(name), "at_%lx", (unsigned long)start);
		if (start)
			expect(f, address, name, start);
		else
			expect_none(f, address);
	}
}

static void offsets_are_added_to_every_address(void **state)
{
	struct fixture *f = *state;
	char spec[160];

	write_text(f, "list", "1000 10 work\n");
	snprintf(spec, sizeof(spec), "%s@0x100000", f->path);
	add_file(f, spec);
	expect(f, 0x10100f, "work", 0x101000);
	expect_none(f, 0x1000);
	assert_string_equal(last_file(f)->path, f->path);
	assert_int_equal(last_file(f)->low, 0x101000);
	assert_int_equal(last_file(f)->high, 0x10100f);

	snprintf(spec, sizeof(spec), "%s@-0x1000", f->path);
	add_file(f, spec);
	expect(f, 0, "work", 0);

	snprintf(spec, sizeof(spec), "%s@+256", f->path);
	add_file(f, spec);
	expect(f, 0x1100, "work", 0x1100);

	snprintf(spec, sizeof(spec), "%s@0xffffffffffffeff8", f->path);
	add_file(f, spec);
	expect(f, UINT64_MAX, "work", UINT64_MAX - 7);
}

static void offsets_outside_the_address_space_are_refused(void **state)
{
	struct fixture *f = *state;
	char spec[160];

	write_text(f, "list", "1000 10 work\n");
	snprintf(spec, sizeof(spec), "%s@-0x1001", f->path);
	refuse(f, spec, "the offset moves its functions out of the address space");
	snprintf(spec, sizeof(spec), "%s@0xfffffffffffff000", f->path);
	refuse(f, spec, "the offset moves its functions out of the address space");
	assert_int_equal(strncmp(f->err.text, f->path, strlen(f->path)), 0);
}

static void invalid_offsets_are_refused(void **state)
{
	static const char *const offsets[] = {
		"",   "x",  "0x",  "-",	  "--1", "+-1",
		" 1", "1 ", "0xg", "12a", "1.5", "0x10000000000000000",
	};
	struct fixture *f = *state;
	char spec[160];

	write_text(f, "list", "1000 10 work\n");
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		snprintf(spec, sizeof(spec), "%s@%s", f->path, offsets[i]);
		refuse(f, spec, "and the text after '@' is not an offset");
	}
	refuse(f, "no-such-file@0x10", "can't open no-such-file: No such file");
	refuse(f, "@0x10", "can't open @0x10: No such file");
}

static void an_existing_path_is_not_split_at_an_offset(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list@0x100", "1000 10 work\n"));
	expect(f, 0x1000, "work", 0x1000);
	assert_string_equal(last_file(f)->path, f->path);
}

static void the_first_file_takes_precedence(void **state)
{
	struct fixture *f = *state;
	struct symbol symbol;

	add_file(f, write_text(f, "first", "1000 10 a\n"));
	add_file(f, write_text(f, "second", "1008 10 b\n"));
	expect(f, 0x100f, "a", 0x1000);
	assert_true(symbols_find(f->symbols, 0x100f, &symbol));
	assert_string_equal(symbol.dso, "first");
	expect(f, 0x1010, "b", 0x1008);
	assert_true(symbols_find(f->symbols, 0x1010, &symbol));
	assert_string_equal(symbol.dso, "second");
}

static void names_outlive_their_file(void **state)
{
	struct fixture *f = *state;
	struct symbol symbol;

	add_file(f, write_text(f, "list", "1000 10 work\n"));
	assert_true(symbols_find(f->symbols, 0x1000, &symbol));
	assert_int_equal(truncate(f->path, 0), 0);
	unlink(f->path);
	for (int i = 0; i < 20; i++) {
		char name[16];

		snprintf(name, sizeof(name), "list%d", i);
		add_file(f, write_text(f, name, "1000 10 other\n"));
	}
	assert_string_equal(symbol.name, "work");
	assert_string_equal(symbol.dso, "list");
}

static void an_empty_table_finds_nothing(void **state)
{
	struct fixture *f = *state;
	const struct symbols_file *files;

	expect_none(f, 0);
	expect_none(f, UINT64_MAX);
	assert_int_equal(symbols_files(f->symbols, &files), 0);
	symbols_free(NULL);
}

int main(void)
{
	/* A test that hangs, for example on a pipe, must fail. */
	alarm(120);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(labels_inside_functions_are_not_functions),
		TEST(the_best_alias_in_a_list_is_chosen),
		TEST(the_first_of_equal_aliases_is_chosen),
		TEST(aliases_share_the_largest_size),
		TEST(nested_functions_take_precedence),
		TEST(a_return_address_belongs_to_the_caller),
		TEST(both_ends_of_the_address_space_can_have_names),
		TEST(ranges_in_any_order_are_resolved_by_definition),
		TEST(offsets_are_added_to_every_address),
		TEST(offsets_outside_the_address_space_are_refused),
		TEST(invalid_offsets_are_refused),
		TEST(an_existing_path_is_not_split_at_an_offset),
		TEST(the_first_file_takes_precedence),
		TEST(names_outlive_their_file),
		TEST(an_empty_table_finds_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
