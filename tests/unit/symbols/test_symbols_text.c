/* SPDX-License-Identifier: BSD-3-Clause */

/* Symbol lists in text form, and files that are not symbol lists. */

#include "tests/unit/symbols/test_symbols.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "symbols/table.h"

#define NOT_SYMBOLS \
	" is not a symbol file of a known kind (ELF, nm, kallsyms, three columns)"

static void lists_from_nm_are_read(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "app.sym",
			       "                 U memcpy\n"
			       "                 w __gmon_start__\n"
			       "0000000000000007 A SOME_CONSTANT\n"
			       "0000000000001000 T first\n"
			       "0000000000001100 t second\n"
			       "0000000000001180 W third\n"
			       "0000000000001200 i fourth\n"
			       "0000000000001300 D data\n"
			       "0000000000001400 T fifth\n"));
	expect_none(f, 0xfff);
	expect(f, 0x1000, "first", 0x1000);
	expect(f, 0x10ff, "first", 0x1000);
	expect(f, 0x1100, "second", 0x1100);
	expect(f, 0x11ff, "third", 0x1180);
	expect(f, 0x12ff, "fourth", 0x1200);
	expect_none(f, 0x1300);
	expect_none(f, 0x13ff);
	expect(f, 0x1400, "fifth", 0x1400);
	assert_string_equal(last_file(f)->kind, "nm");
	assert_int_equal(last_file(f)->machine, 0);
	assert_int_equal(last_file(f)->functions, 5);
	assert_int_equal(last_file(f)->low, 0x1000);
}

static void symbols_without_a_name_are_skipped(void **state)
{
	struct fixture *f = *state;
	char text[2000 * 7 + 16] = "";

	for (size_t i = 0; i < 2000; i++)
		memcpy(text + 7 * i, "1008 t\n", 8);
	strcat(text, "1000 T work\n");
	add_file(f, write_text(f, "list", text));
	expect(f, 0x1010, "work", 0x1000);
}

static void the_size_of_the_last_symbol_of_a_list_is_limited(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list", "1000 T first\n2000 T last\n"));
	expect(f, 0x2fff, "last", 0x2000);
	expect_none(f, 0x3000);
	assert_int_equal(last_file(f)->high, 0x2fff);
}

/* A byte order mark, which some Windows tools write. */
static void a_byte_order_mark_is_skipped(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "nm",
			       "\xef\xbb\xbf"
			       "1000 T first\n1010 T second\n"));
	expect(f, 0x1004, "first", 0x1000);
	expect(f, 0x1014, "second", 0x1010);
}

static void sizes_from_nm_end_functions(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list",
			       "0000000000001000 0000000000000010 T sized\n"
			       "0000000000002000 0000000000000010 D data\n"
			       "0000000000003000 T unsized\n"
			       "0000000000003100 0000000000000001 t one_byte\n"));
	expect(f, 0x100f, "sized", 0x1000);
	expect_none(f, 0x1010);
	expect(f, 0x30ff, "unsized", 0x3000);
	expect(f, 0x3100, "one_byte", 0x3100);
	expect_none(f, 0x3101);
}

static void names_can_contain_blanks_and_brackets(void **state)
{
	struct fixture *f = *state;

	add_file(
		f,
		write_text(
			f, "list",
			"1000 T operator new(unsigned long)\n"
			"1100 T std::vector<int, std::allocator<int> >::operator[](int)\n"
			"1200 t work() [clone .constprop.0]\n"
			"1300 T operator delete []\n"
			"1400 T with_line\t/src/main.c:12\n"
			"1500 T windows_line_end\r\n"
			"1600 T last_line_without_end"));
	expect(f, 0x1000, "operator new(unsigned long)", 0x1000);
	expect(f, 0x1100, "std::vector<int, std::allocator<int> >::operator[](int)",
	       0x1100);
	expect(f, 0x1200, "work() [clone .constprop.0]", 0x1200);
	expect(f, 0x1400, "with_line", 0x1400);
	expect(f, 0x1500, "windows_line_end", 0x1500);
	expect(f, 0x1600, "last_line_without_end", 0x1600);
}

static void kallsyms_modules_are_not_part_of_names(void **state)
{
	struct fixture *f = *state;

	add_file(f, "tests/data/symbols/kallsyms");
	assert_string_equal(last_file(f)->kind, "kallsyms");
	expect(f, 0xffffffff81000000, "startup_64", 0xffffffff81000000);
	expect(f, 0xffffffff81000250, "do_one_initcall", 0xffffffff81000200);
	expect(f, 0xffffffffc0201010, "ext4_sync_fs", 0xffffffffc0201000);
	expect(f, 0xffffffffc0201100, "ext4_statfs", 0xffffffffc0201100);
	/* The module's last function ends long before the next module. */
	expect(f, 0xffffffffc0201fff, "ext4_statfs", 0xffffffffc0201100);
	expect_none(f, 0xffffffffc0202100);
	expect(f, 0xffffffffc0400020, "netif_poll", 0xffffffffc0400000);
	expect_none(f, 0x10);
}

static void hidden_kallsyms_are_refused_with_advice(void **state)
{
	struct fixture *f = *state;

	refuse(f,
	       write_text(f, "kallsyms",
			  "0000000000000000 T _text\n"
			  "0000000000000000 T startup_64\n"
			  "0000000000000000 t ext4_sync_fs\t[ext4]\n"),
	       "all addresses are 0");
	assert_non_null(strstr(f->err.text, "root"));
	assert_non_null(strstr(f->err.text, "kernel.kptr_restrict"));
}

static void this_kernels_symbols_can_be_read(void **state)
{
	struct fixture *f = *state;
	const char *path = "/proc/kallsyms";

	if (access(path, R_OK))
		skip();
	/* Whether addresses are shown depends on who runs the test. */
	if (symbols_add(f->symbols, path, &f->err))
		assert_non_null(strstr(f->err.text, "all addresses are 0"));
	else
		assert_true(last_file(f)->functions > 1000);
}

static void lists_of_address_size_and_name_are_read(void **state)
{
	struct fixture *f = *state;

	add_file(f, "tests/data/symbols/mirage.three-column");
	assert_string_equal(last_file(f)->kind, "three-column");
	expect(f, 0x100000, "_start", 0x100000);
	expect(f, 0x10001f, "_start", 0x100000);
	expect(f, 0x100040, "camlUnikernel__start_1", 0x100040);
	expect_none(f, 0x100050);
	expect(f, 0x100060, "caml_call_gc", 0x100060);
	/* A symbol without a size extends to the next one. */
	expect(f, 0x1000ff, "caml_call_gc", 0x100060);
	expect(f, 0x100100, "caml_alloc1", 0x100100);
	/* 0xb is a size here, not a data symbol. */
	expect(f, 0x10020a, "caml_ml_nop", 0x100200);
	expect_none(f, 0x10020b);
	assert_int_equal(last_file(f)->functions, 5);
}

static void perf_maps_are_read(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "perf-1.map",
			       "7f0000001000 a0 LazyCompile:~main /app/index.js:1:1\n"
			       "0x7f0000002000 0x8 stub\n"));
	assert_string_equal(last_file(f)->kind, "three-column");
	expect(f, 0x7f000000109f, "LazyCompile:~main /app/index.js:1:1", 0x7f0000001000);
	expect_none(f, 0x7f00000010a0);
	expect(f, 0x7f0000002007, "stub", 0x7f0000002000);
}

static void objdump_output_is_read(void **state)
{
	struct fixture *f = *state;

	add_file(f, "tests/data/symbols/objdump-t");
	assert_string_equal(last_file(f)->kind, "objdump");
	assert_int_equal(last_file(f)->functions, 3);
	expect(f, 0x1129, "hidden_work", 0x1129);
	expect(f, 0x1133, "hidden_work", 0x1129);
	expect(f, 0x1134, "main", 0x1134);
	expect(f, 0x1000, "_init", 0x1000);
	expect_none(f, 0x4010);
}
static void files_of_other_kinds_are_refused_with_one_line(void **state)
{
	static const struct {
		const char *content;
		size_t size;
		const char *reason;
	} bad[] = {
		{"", 0, " is empty, not a symbol file"},
		{"\n", 1, NOT_SYMBOLS},
		{"\0", 1, NOT_SYMBOLS},
		{"# a list\n", 9, NOT_SYMBOLS},
		{"uniprof\n=======\nProfiles domains.\n\n    make\n", 45, NOT_SYMBOLS},
		{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16, NOT_SYMBOLS},
		{"1000 T work\0\n", 13, NOT_SYMBOLS},
		{"1000 T\n", 7, NOT_SYMBOLS},
		{"10000000000000000 T work\n", 25, NOT_SYMBOLS},
		{"1000 D data\n1010 R ro\n", 22,
		 ": contains data symbols, but no functions"},
		{"                 U memcpy\n", 26, NOT_SYMBOLS},
		{"add T all\nof\nthis\nis\nno\nsymbol\nlist\n", 36, NOT_SYMBOLS},
		{"\x1f\x8b\x08\0\0\0", 6,
		 " is compressed (gzip), and damaged or truncated"},
		{"\xfd\x37zXZ\0\0", 7, " is compressed (xz), and damaged or truncated"},
		{"\x28\xb5\x2f\xfd\0\0", 6,
		 " is compressed (zstd), and damaged or truncated"},
		{"\xff\xfe"
		 "1\0000\0 \0T\0 \0f\0\n\0",
		 14, ": is text in UTF-16; convert"},
		{"!<arch>\n", 8, " is an archive of object files; use the linked"},
		{"\177ELF", 4, "is a damaged ELF file"},
		{"\177ELF\2\1\1", 7, "is a damaged ELF file"},
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		refuse(f, write_file(f, "file", bad[i].content, bad[i].size),
		       bad[i].reason);
}

static void boot_images_are_refused_with_advice(void **state)
{
	struct fixture *f = *state;
	char image[1024] = "MZ";

	memcpy(image + 0x202, "HdrS", 4);
	refuse(f, write_file(f, "vmlinuz", image, sizeof(image)),
	       "use vmlinux, System.map or the guest's /proc/kallsyms");
}

/* System.map has the addresses at which the kernel is linked, kallsyms those at which it
 * runs. Both fit a guest whose kernel KASLR has moved; other files are not moved. */
static void a_linux_kernel_is_named_where_it_runs(void **state)
{
	static const struct {
		const char *list;
		uint64_t work;
		uint64_t shift; /* of the list, for a kernel moved by 0x1a000000 */
	} cases[] = {
		{"ffffffff81000000 T _text\nffffffff81000000 T startup_64\n"
		 "ffffffff81001000 T work\nffffffff81001100 T end\n",
		 0xffffffff81001000, 0x1a000000},
		{"ffffffff9b000000 T _text\nffffffff9b001000 t work\n"
		 "ffffffff9b001100 T end\n",
		 0xffffffff9b001000, 0},
		{"100000 T _text\n101000 T work\n101100 T end\n", 0x101000, 0},
		{"ffffffff81001000 T work\nffffffff81001100 T end\n", 0xffffffff81001000,
		 0},
	};
	const uint64_t linux_text = 0xffffffff9b000000;
	const struct symbols_guest guest = {.linux_text = linux_text};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symbols *symbols = symbols_new(&(struct symbols_options){0});
		const struct symbols_file *file;
		struct symbol symbol;
		uint64_t work = cases[i].work;

		assert_int_equal(symbols_add(symbols,
					     write_text(f, "list", cases[i].list),
					     &f->err),
				 0);
		symbols_files(symbols, &file);
		assert_true(symbols_find(symbols, work + 8, &symbol));
		assert_int_equal(symbols_shift(file, linux_text), cases[i].shift);
		assert_int_equal(symbols_shift(file, 0), 0);
		work += cases[i].shift;
		assert_true(symbols_find_in(symbols, &guest, work + 8, &symbol));
		assert_string_equal(symbol.name, "work");
		assert_int_equal(symbol.start, work);
		assert_false(
			symbols_find_in(symbols, &guest, work + 8 - 0x2000000, &symbol));
		symbols_free(symbols);
	}
}

static void directories_devices_and_missing_files_are_refused(void **state)
{
	struct fixture *f = *state;

	refuse(f, f->directory, " is a directory; name a symbol file in it");
	refuse(f, "/dev/zero", "/dev/zero is neither a file nor a pipe");
	refuse(f, "/dev/null", "/dev/null is neither a file nor a pipe");
	refuse(f, path_of(f, "none"), "/none: No such file or directory");
	refuse(f, "", "No such file or directory");
	/* A file whose size is known only after reading it, and whose lines vary. */
	refuse(f, "/proc/self/maps", NOT_SYMBOLS);
}

static void a_few_other_lines_are_skipped(void **state)
{
	struct fixture *f = *state;

	add_file(f, write_text(f, "list",
			       "\n"
			       "# made by hand\n"
			       "kernel.elf:\n"
			       "\n"
			       "1000 T first\n"
			       "what is this?\n"
			       "1010 T second\n"
			       "10"));
	expect(f, 0x1000, "first", 0x1000);
	expect(f, 0x1010, "second", 0x1010);
}

static void endless_lines_are_refused_quickly(void **state)
{
	struct fixture *f = *state;
	int fd;

	/* A terabyte of NULs on no disk space. */
	write_text(f, "sparse", "1000 T work\n");
	fd = open(f->path, O_RDWR);
	assert_true(fd >= 0);
	if (ftruncate(fd, (off_t)1 << 40)) {
		close(fd);
		skip();
	}
	close(fd);
	refuse(f, f->path, NOT_SYMBOLS);
}

static void names_that_are_too_long_are_skipped(void **state)
{
	struct fixture *f = *state;
	char text[SYMBOLS_NAME_MAX + 64];
	struct symbol symbol;

	strcpy(text, "1000 T ");
	memset(text + 7, 'n', SYMBOLS_NAME_MAX);
	strcpy(text + 7 + SYMBOLS_NAME_MAX, "\n2000 T next\n");
	add_file(f, write_text(f, "longest", text));
	assert_true(symbols_find(f->symbols, 0x1000, &symbol));
	assert_int_equal(strlen(symbol.name), SYMBOLS_NAME_MAX);

	strcpy(text + 7 + SYMBOLS_NAME_MAX, "n\n0 T first\n");
	add_file(f, write_text(f, "longer", text));
	expect(f, 0xfff, "first", 0);
	assert_int_equal(last_file(f)->functions, 1);
	assert_int_equal(last_file(f)->high, 0xfff);
}

static void a_long_path_does_not_hide_the_reason(void **state)
{
	struct fixture *f = *state;
	char path[2048];

	memset(path, '/', sizeof(path));
	strcpy(path + sizeof(path) - 9, "dev/zero");
	refuse(f, path, "dev/zero is neither a file nor a pipe");
}

/* Like a shell's <(nm program); the writer may be slow to start. */
static void a_pipe_is_read_to_its_end(void **state)
{
	struct fixture *f = *state;
	char path[32];
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		usleep(50000);
		for (unsigned long i = 0; i < 20000; i++)
			if (dprintf(ends[1], "%lx T function_%lu\n", 0x1000 + i * 16, i) <
			    0)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	add_file(f, path);
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(last_file(f)->functions, 20000);
	expect(f, 0x1000 + 16 * 12345 + 15, "function_12345", 0x1000 + 16 * 12345);
}

static void a_pipe_without_a_writer_does_not_block(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(mkfifo(path_of(f, "fifo"), 0600), 0);
	refuse(f, f->path, " is empty, not a symbol file");
}

static void an_unordered_list_is_sorted(void **state)
{
	enum {
		COUNT = 50000
	};
	struct fixture *f = *state;
	char *text = malloc(COUNT * 32);
	size_t used = 0;

	assert_non_null(text);
	for (unsigned long i = 0; i < COUNT; i++) {
		unsigned long place = i * 7919 % COUNT;

		used += (size_t)sprintf(text + used, "%lx T f%lu\n", 0x1000 + place * 4,
					place);
	}
	add_file(f, write_text(f, "list", text));
	free(text);
	for (unsigned long i = 0; i < COUNT; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%lu", i);
		expect(f, 0x1000 + i * 4 + 3, name, 0x1000 + i * 4);
	}
}

int main(void)
{
	/* A test that hangs, for example on a pipe, must fail. */
	alarm(120);
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(lists_from_nm_are_read),
		TEST(symbols_without_a_name_are_skipped),
		TEST(the_size_of_the_last_symbol_of_a_list_is_limited),
		TEST(a_byte_order_mark_is_skipped),
		TEST(sizes_from_nm_end_functions),
		TEST(names_can_contain_blanks_and_brackets),
		TEST(kallsyms_modules_are_not_part_of_names),
		TEST(hidden_kallsyms_are_refused_with_advice),
		TEST(this_kernels_symbols_can_be_read),
		TEST(lists_of_address_size_and_name_are_read),
		TEST(perf_maps_are_read),
		TEST(objdump_output_is_read),
		TEST(files_of_other_kinds_are_refused_with_one_line),
		TEST(boot_images_are_refused_with_advice),
		TEST(a_linux_kernel_is_named_where_it_runs),
		TEST(directories_devices_and_missing_files_are_refused),
		TEST(a_few_other_lines_are_skipped),
		TEST(endless_lines_are_refused_quickly),
		TEST(names_that_are_too_long_are_skipped),
		TEST(a_long_path_does_not_hide_the_reason),
		TEST(a_pipe_is_read_to_its_end),
		TEST(a_pipe_without_a_writer_does_not_block),
		TEST(an_unordered_list_is_sorted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
