/* SPDX-License-Identifier: BSD-3-Clause */

/* Demangled names, and names that would cost too much. */

#include "tests/unit/symbols/test_symbols.h"

#include "symbols/demangle.h"

#define VERY_LONG ((size_t)1 << 20)

static void bare_names_have_no_parameters(void **state)
{
	static const char *const names[][2] = {
		{"_ZN3foo3barEi", "foo::bar"},
		{"_ZN4listIiE4pushERKi.isra.0", "list<int>::push"},
		{"_ZN4shop6squareILi3EEEii", "shop::square<3>"},
		{"camlLwt__return_1319", "Lwt.return"},
	};
	static struct demangled demangled;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_true(demangle(names[i][0], true, &demangled));
		assert_string_equal(demangled.text, names[i][1]);
	}
}

static void known_names_are_demangled(void **state)
{
	static struct demangled demangled;
	FILE *file = fopen("tests/data/symbols/mangled", "r");
	char line[1024];
	int names = 0;

	(void)state;
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		char *name = strtok(line, "\t\n"), *wanted = strtok(NULL, "\n");

		if (*name == '#')
			continue;
		names++;
		assert_int_equal(demangle(name, false, &demangled), wanted != NULL);
		if (wanted) {
			assert_string_equal(demangled.text, wanted);
			assert_int_equal(demangled.length, strlen(wanted));
		}
	}
	fclose(file);
	assert_true(names > 30);
}

/* Writes f(X<X<..., ...>, X<..., ...> >): each level doubles the demangled length. */
static void write_bomb(char *to, const char *name, size_t levels)
{
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	to += sprintf(to, "_Z1f%zu%sIiiE", strlen(name), name);
	for (size_t i = 1; i < levels; i++)
		to += sprintf(to, "S_IS%c_S%c_E", digits[i - 1], digits[i - 1]);
}

/* Writes a Rust name that grows exponentially when demangled: tuples, empty at the
 * innermost level, and back references. */
static void write_rust_bomb(char *to, size_t levels)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNO"
				     "PQRSTUVWXYZ";
	size_t before = 8, length = 10;

	strcpy(to, "_RINvC1a1bTE");
	for (size_t i = 1; i < levels; i++) {
		char back[8];
		size_t start = length;

		if (before < 63)
			sprintf(back, "B%c_", digits[before - 1]);
		else
			sprintf(back, "B%c%c_", digits[(before - 1) / 62],
				digits[(before - 1) % 62]);
		length += (size_t)sprintf(to + 2 + length, "T%s%sE", back, back);
		before = start;
	}
	strcpy(to + 2 + length, "E");
}

static void expect_given_up(const char *name, size_t least)
{
	static struct demangled demangled;

	assert_false(demangle(name, false, &demangled));
	assert_in_range(demangled.made, least, 2 * DEMANGLE_TO_MAX);
}

static void names_that_expand_to_gigabytes_are_given_up(void **state)
{
	/* Libiberty passes pieces of some 250 bytes. The third name has no ASCII
	 * piece. */
	static const char *const names[] = {"X", "\xc3\xa9", "A\xff"};
	static struct demangled demangled;
	char name[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		write_bomb(name, names[i], 4);
		assert_true(demangle(name, false, &demangled));
		write_bomb(name, names[i], 36);
		expect_given_up(name, DEMANGLE_TO_MAX);
	}
	write_rust_bomb(name, 4);
	assert_true(demangle(name, false, &demangled));
	write_rust_bomb(name, 60);
	expect_given_up(name, DEMANGLE_TO_MAX);
}

/* Expects demangling to give up on @prefix, then @part as often as fits in @size bytes,
 * then @end. */
static void expect_given_up_long(const char *prefix, const char *part, const char *end,
				 size_t size)
{
	char *name = malloc(size + 64), *to;

	assert_non_null(name);
	to = stpcpy(name, prefix);
	while (to + strlen(part) < name + size)
		to = stpcpy(to, part);
	strcpy(to, end);
	expect_given_up(name, 0);
	free(name);
}

static void long_and_deep_names_are_given_up(void **state)
{
	static const size_t sizes[] = {2000, DEMANGLE_FROM_MAX, VERY_LONG};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		expect_given_up_long("_Z1f", "P", "i", sizes[i]);
		expect_given_up_long("_Z", "N", "1a", sizes[i]);
		expect_given_up_long("_R", "Nv", "C1a", sizes[i]);
		expect_given_up_long("_R", "INv", "C1a", sizes[i]);
	}
	expect_given_up_long("camlModule__", "name_", "1", VERY_LONG);
}

static void a_table_demangles_names_on_request(void **state)
{
	const struct symbols_options wanted = {.demangle = DEMANGLE_FULL};
	const char *list =
		"1000 T _Z3addii\n1010 T _ZN1a17h05af221e174051e9E\n1020 T c\n";
	struct fixture *f = *state;
	struct symbol symbol;

	add_file(f, write_text(f, "list", list));
	expect(f, 0x1000, "_Z3addii", 0x1000);
	symbols_free(f->symbols);
	f->symbols = symbols_new(&wanted);
	assert_non_null(f->symbols);
	add_file(f, f->path);
	for (int again = 0; again < 2; again++) {
		expect(f, 0x1000, "add(int, int)", 0x1000);
		expect(f, 0x1010, "a", 0x1010);
		expect(f, 0x1020, "c", 0x1020);
	}
	assert_true(symbols_find(f->symbols, 0x1004, &symbol));
	assert_string_equal(symbol.mangled, "_Z3addii");
}

/* Each name is given up at the limit; once the budget is used up, no name is tried. */
static void the_effort_of_demangling_a_table_is_limited(void **state)
{
	const struct symbols_options wanted = {.demangle = DEMANGLE_FULL};
	struct fixture *f = *state;
	char name[1024], *list, *to;
	size_t count = 6000, size = count * 1100;

	write_bomb(name, "X", 30);
	list = malloc(size);
	assert_non_null(list);
	to = list;
	for (size_t i = 0; i < count; i++)
		to += sprintf(to, "%zx T %s\n", 0x1000 + 16 * i, name);
	to += sprintf(to, "%zx T _Z3addii\n", 0x1000 + 16 * count);
	symbols_free(f->symbols);
	f->symbols = symbols_new(&wanted);
	assert_non_null(f->symbols);
	add_file(f, write_text(f, "list", list));
	free(list);
	for (size_t i = 0; i < count; i++)
		expect(f, 0x1000 + 16 * i, name, 0x1000 + 16 * i);
	expect(f, 0x1000 + 16 * count, "_Z3addii", 0x1000 + 16 * count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names_are_demangled),
		cmocka_unit_test(bare_names_have_no_parameters),
		cmocka_unit_test(names_that_expand_to_gigabytes_are_given_up),
		cmocka_unit_test(long_and_deep_names_are_given_up),
		cmocka_unit_test_setup_teardown(a_table_demangles_names_on_request, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			the_effort_of_demangling_a_table_is_limited, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
