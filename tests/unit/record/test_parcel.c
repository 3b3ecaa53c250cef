/* SPDX-License-Identifier: BSD-3-Clause */

/* What a process sends that a symbol file may have taken over: checked, and harmless. */

#define _GNU_SOURCE 1
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/find/parcel.h"
#include "symbols/program.h"
#include "base/random.h"

static const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xe8, 0x07, 0x00, 0x00,
			       0x00, 0x5d, 0xc3, 0x66, 0x0f, 0x1f, 0x44, 0x00,
			       0x55, 0x48, 0x89, 0xe5, 0x31, 0xc0, 0x5d, 0xc3};
static const struct code_range ranges[] = {{0x1000, sizeof(code), code}};
static const struct plain_symbol symbols[] = {
	{0x1000, 11, "caller", 6, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)},
	{0x1010, 8, "callee", 6, ELF64_ST_INFO(STB_LOCAL, STT_FUNC)},
};
static const struct plain plain = {
	.machine = EM_X86_64,
	.build_id = {1, 2, 3, 4, 5, 6, 7, 8},
	.build_id_size = 8,
	.build_id_address = 0x2010,
	.hypercall_page = 0x3000,
	.image = 0x400,
	.segments = {{0x1000, 0x2000, 0x800}},
	.segment_count = 1,
	.code = ranges,
	.code_count = 1,
	.symbols = symbols,
	.symbol_count = 2,
};

/* Makes a table of what @from has, by code analysis. */
static void make_table(const struct plain *from, struct buffer *to)
{
	char path[] = "/tmp/uniprof-parcel-XXXXXX";
	const char *const specs[] = {path};
	struct program_table *table;
	int fd = mkstemp(path), out;
	struct error err;
	size_t size;
	void *data;

	assert_int_equal(plain_write(from, &data, &size, &err), 0);
	assert_int_equal(write(fd, data, size), size);
	close(fd);
	free(data);
	table = program_table_make(specs, 1, NULL, NULL, &err);
	if (!table)
		fail_msg("%s", err.text);
	out = open(path, O_RDWR | O_TRUNC);
	assert_int_equal(program_table_write(table, out, path, &err), 0);
	size = (size_t)lseek(out, 0, SEEK_CUR);
	assert_int_equal(pread(out, buffer_extend(to, size), size, 0), size);
	close(out);
	unlink(path);
	program_table_free(table);
}

static struct buffer make_parcel(void)
{
	struct buffer table = {0}, parcel = {0};

	make_table(&plain, &table);
	parcel_put(&parcel, "/srv/web.elf", &plain, &table);
	buffer_free(&table);
	assert_false(parcel.failed);
	return parcel;
}

/* Does what a recorder does with a parcel. Returns whether it is accepted. */
static bool use(const struct buffer *from)
{
	const struct symbols_options options = {.demangle = DEMANGLE_NOT};
	struct symbols *names = symbols_new(&options);
	struct program program;
	struct parcel parcel;
	void *data = NULL;
	struct error err;
	size_t size;
	bool is_good = parcel_take(&parcel, from, &err) == 0;

	if (is_good) {
		assert_int_equal(plain_write(&parcel.plain, &data, &size, &err), 0);
		symbols_add_contents(names, parcel.path, data, size, &err);
		if (program_open_contents(&program, parcel.path, data, size, &err) == 0 &&
		    program_table_add_code(parcel.table, &program, &err) < 0)
			program_close(&program);
	}
	assert_true(is_good || err.text[0]);
	free(data);
	parcel_free(&parcel);
	symbols_free(names);
	return is_good;
}

static void all_parts(void **state)
{
	const struct symbols_options options = {.demangle = DEMANGLE_NOT};
	struct symbols *names = symbols_new(&options);
	struct buffer sent = make_parcel();
	const struct symbols_file *files;
	struct program program;
	struct parcel parcel;
	struct symbol symbol;
	struct error err;
	size_t size;
	void *data;

	(void)state;
	assert_int_equal(parcel_take(&parcel, &sent, &err), 0);
	assert_string_equal(parcel.path, "/srv/web.elf");
	assert_int_equal(plain_write(&parcel.plain, &data, &size, &err), 0);
	assert_int_equal(symbols_add_contents(names, parcel.path, data, size, &err), 0);
	assert_int_equal(symbols_files(names, &files), 1);
	assert_string_equal(files->path, "/srv/web.elf");
	assert_int_equal(files->image, 0x400);
	assert_int_equal(files->segment_count, 1);
	assert_memory_equal(files->segments, plain.segments, sizeof(plain.segments[0]));
	assert_int_equal(files->build_id_size, 8);
	assert_memory_equal(files->build_id, plain.build_id, 8);
	assert_true(symbols_find(names, 0x1008, &symbol));
	assert_string_equal(symbol.name, "caller");
	assert_string_equal(symbol.dso, "web.elf");
	assert_int_equal(symbol.call, SYMBOLS_CALL_THERE);
	assert_false(symbols_find(names, 0x100b, &symbol));
	assert_int_equal(program_open_contents(&program, parcel.path, data, size, &err),
			 0);
	assert_string_equal(program.name, "web.elf");
	assert_int_equal(program.build_id_address, 0x2010);
	assert_int_equal(program.hypercall_page, 0x3000);
	assert_int_equal(program.function_count, 2);
	assert_int_equal(program_table_add_code(parcel.table, &program, &err), 0);
	assert_int_equal(parcel.table->origin[0].low, 0x1000);
	assert_int_equal(parcel.table->origin[0].high, 0x1000 + sizeof(code));
	assert_non_null(parcel.table->program);
	free(data);
	parcel_free(&parcel);
	symbols_free(names);
	buffer_free(&sent);
}

static void without_names(void **state)
{
	struct buffer table = {0}, sent = {0};
	struct plain nameless = plain;

	(void)state;
	make_table(&plain, &table);
	nameless.symbols = NULL;
	nameless.symbol_count = 0;
	parcel_put(&sent, "vmlinuz", &nameless, &table);
	assert_true(use(&sent));
	buffer_free(&table);
	buffer_free(&sent);
}

static void a_reason(void **state)
{
	struct buffer sent = {0};
	struct parcel parcel;
	struct error err;

	(void)state;
	parcel_put_reason(&sent, "the \033[1m reason");
	assert_int_equal(parcel_take(&parcel, &sent, &err), -1);
	assert_string_equal(err.text, "the ?[1m reason");
	parcel_free(&parcel);
	buffer_reset(&sent);
	assert_int_equal(parcel_take(&parcel, &sent, &err), -1);
	assert_non_null(strstr(err.text, "has failed"));
	parcel_free(&parcel);
	buffer_free(&sent);
}

/* Every start of a parcel, and parcels with wrong bytes. */
static void damage(void **state)
{
	struct buffer sent = make_parcel();
	unsigned int accepted = 0;
	uint64_t random = 1;

	(void)state;
	assert_true(use(&sent));
	for (size_t size = 0; size < sent.size; size++) {
		/* of the exact size, so that overruns are seen */
		struct buffer cut = {.data = malloc(size + 1) ?: NULL, .size = size};

		memcpy(cut.data, sent.data, size);
		assert_false(use(&cut));
		free(cut.data);
	}
	for (int i = 0; i < 20000; i++) {
		struct buffer copy = {.data = malloc(sent.size), .size = sent.size};
		unsigned int changes = 1 + (unsigned int)(random_next(&random) % 3);

		memcpy(copy.data, sent.data, sent.size);
		/* Not in the table, which has a checksum, but for a few bytes. */
		while (changes--)
			copy.data[random_next(&random) % 150] ^= (uint8_t)random_next(
				&random);
		accepted += use(&copy);
		free(copy.data);
	}
	assert_true(accepted > 1000); /* or the bytes are of no interest */
	buffer_free(&sent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_parts),
		cmocka_unit_test(without_names),
		cmocka_unit_test(a_reason),
		cmocka_unit_test(damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
