/* SPDX-License-Identifier: BSD-3-Clause */

/* Symbols from real ELF files, compared with the output of nm. */

#include "tests/unit/symbols/test_symbols.h"

static bool command_works(const char *command)
{
	return system(command) == 0;
}

/*
 * Expects the table to have each text symbol that nm prints, under its name or another
 * name that nm prints for its address. Two symbols that are not functions are included
 * because of their types in nm: data_start (W) and _etext (T). Returns the number of
 * symbols.
 */
static size_t compare_with_nm(struct fixture *f, const char *path)
{
	struct {
		unsigned long address;
		char name[256];
	} *lines = calloc(20000, sizeof(*lines));
	size_t count = 0;
	char command[256], line[512];
	FILE *nm;

	assert_non_null(lines);
	snprintf(command, sizeof(command), "nm --defined-only %s", path);
	nm = popen(command, "r");
	assert_non_null(nm);
	while (count < 20000 && fgets(line, sizeof(line), nm)) {
		char type;

		if (sscanf(line, "%lx %c %255s", &lines[count].address, &type,
			   lines[count].name) == 3 &&
		    strchr("TtWi", type) && strcmp(lines[count].name, "data_start") &&
		    strcmp(lines[count].name, "_etext"))
			count++;
	}
	assert_int_equal(pclose(nm), 0);
	for (size_t i = 0; i < count; i++) {
		struct symbol symbol;
		bool known = false;

		if (!symbols_find(f->symbols, lines[i].address, &symbol))
			fail_msg("%s has no name", lines[i].name);
		assert_int_equal(symbol.start, lines[i].address);
		for (size_t k = 0; k < count && !known; k++)
			known = lines[k].address == lines[i].address &&
				!strcmp(lines[k].name, symbol.name);
		if (!known)
			fail_msg("%s is called %s", lines[i].name, symbol.name);
	}
	free(lines);
	return count;
}

static void a_compiled_program_has_the_same_symbols_as_in_nm(void **state)
{
	static const char source[] =
		"static __attribute__((noinline)) int local(int a) { return a * 3; }\n"
		"int global(int a) { return local(a) + 1; }\n"
		"int alias(int a) __attribute__((alias(\"global\")));\n"
		"__attribute__((weak)) int weak(int a) { return a; }\n"
		"__attribute__((visibility(\"hidden\"))) int hidden(void) { return 1; }\n"
		"static int (*pick(void))(int) { return global; }\n"
		"int chosen(int a) __attribute__((ifunc(\"pick\")));\n"
		"__asm__(\".text\\n.globl stub\\nstub: nop\\n.Lin: nop\\nstub2: "
		"nop\\n\");\n"
		"int main(int c, char **v) { (void)v; return chosen(c) + weak(c); }\n";
	struct fixture *f = *state;
	char program[128], command[1024];
	struct symbols *lists;
	struct symbol symbol;

	write_text(f, "program.c", source);
	snprintf(program, sizeof(program), "%s/program", f->directory);
	snprintf(command, sizeof(command), "cc -O1 -o %s %s 2>/dev/null && nm %s >%s.nm",
		 program, f->path, program, program);
	if (!command_works(command))
		skip(); /* no compiler, or one without ifunc */
	add_file(f, program);
	assert_true(compare_with_nm(f, program) >= 10);

	/* The output of nm, read as a list, must give the same symbols as the file. */
	lists = symbols_new(&(struct symbols_options){0});
	snprintf(command, sizeof(command), "%s.nm", program);
	assert_int_equal(symbols_add(lists, command, &f->err), 0);
	for (uint64_t address = 0; address < last_file(f)->high; address++) {
		struct symbol listed;

		if (!symbols_find(f->symbols, address, &symbol))
			continue;
		assert_true(symbols_find(lists, address, &listed));
		assert_string_equal(symbol.name, listed.name);
		assert_int_equal(symbol.start, listed.start);
	}
	symbols_free(lists);

	snprintf(command, sizeof(command), "strip %s", program);
	assert_true(command_works(command));
	refuse(f, program, "use the unstripped file");
}

static void this_test_program_has_the_same_symbols_as_in_nm(void **state)
{
	struct fixture *f = *state;
	char path[256];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	assert_true(length > 0);
	path[length] = '\0';
	if (!command_works("nm --version >/dev/null 2>&1"))
		skip();
	add_file(f, "/proc/self/exe");
	assert_true(compare_with_nm(f, path) > 30);
}

static void a_separate_debug_file_is_read(void **state)
{
	struct fixture *f = *state;
	char command[1024], debug[128];
	struct symbol symbol;

	snprintf(debug, sizeof(debug), "%s/debug", f->directory);
	/* system() runs a shell, whose own /proc/self/exe would be copied. */
	snprintf(command, sizeof(command), "objcopy --only-keep-debug /proc/%d/exe %s",
		 (int)getpid(), debug);
	if (!command_works(command))
		skip();
	add_file(f, debug);
	assert_true(last_file(f)->functions > 30);
	assert_true(symbols_find(f->symbols, last_file(f)->low, &symbol));
}

int main(void)
{
	alarm(300);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_compiled_program_has_the_same_symbols_as_in_nm),
		TEST(this_test_program_has_the_same_symbols_as_in_nm),
		TEST(a_separate_debug_file_is_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
