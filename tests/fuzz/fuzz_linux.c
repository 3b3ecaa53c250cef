/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Linux kernels with arbitrary contents. The first byte of the input selects what the
 * others are: a boot image (vmlinuz), a whole ELF file, or ORC: 4 bytes of .orc_unwind_ip
 * for each row, then 6 bytes of .orc_unwind for each.
 */

#include "symbols/elf/unpack.h"
#include "tables/orc.h"
#include "tests/fuzz/check.h"
#include "tests/unit/tables/test_cfi_file.h"

#define ROWS_AT	   0x800000
#define HYPERCALLS 0x3000

/* A rule that is found is one that the unwinder knows. */
static void check_table(struct unwind_builder *builder, uint64_t offset)
{
	struct unwind_table *table = unwind_builder_finish(builder);

	check(table != NULL);
	for (uint64_t at = 0; at < ROWS_AT; at += 10007) {
		const struct unwind_rule *rule = unwind_table_find(table, at + offset);

		if (!rule)
			continue;
		check(rule->kind > UNWIND_UNKNOWN && rule->kind <= UNWIND_CALLED_SYSTEM);
		check(rule->other <= 16);
		check(rule->kind != UNWIND_CALLER || rule->caller == -8);
		check(at < HYPERCALLS || at >= HYPERCALLS + 4096);
	}
	unwind_table_free(table);
}

static void read_kernel(const uint8_t *data, size_t size, uint64_t offset)
{
	struct unwind_builder *builder = unwind_builder_new();
	struct error err = {{0}};
	size_t rows;
	int status;

	check(builder != NULL);
	status = unwind_table_add_orc(builder, "file", data, size, offset, HYPERCALLS,
				      &rows, &err);
	check((status == 0) == !err.text[0]);
	check(status == 0 || rows == 0);
	check_table(builder, offset);
	unwind_builder_free(builder);
}

/* Adds the rows as a module with the code from @start up to @end. */
static void read_module(const uint8_t *data, size_t count, uint64_t start, uint64_t end)
{
	const struct orc_module module = {data, data + 4 * count, count, ROWS_AT, start,
					  end};
	struct unwind_builder *builder = unwind_builder_new();
	struct unwind_table *table;

	check(builder != NULL);
	check(unwind_table_add_orc_module(builder, &module) == 0);
	table = unwind_builder_finish(builder);
	check(table != NULL);
	check(!unwind_table_find(table, start - 1) && !unwind_table_find(table, end));
	unwind_table_free(table);
	unwind_builder_free(builder);
}

static void read_orc(const uint8_t *data, size_t size)
{
	size_t count = size / 10, made;
	const struct file_section sections[] = {
		{".orc_unwind_ip", ROWS_AT, data, 4 * count, false},
		{".orc_unwind", 0, data + 4 * count, size - 4 * count, false},
		{".init.text", CODE + CODE_SIZE, data, size, true},
	};
	uint8_t *file;

	file = make_elf(EM_X86_64, sections, 3, &made);
	check(file != NULL);
	read_kernel(file, made, 0);
	read_kernel(file, made, 0xffffffff80000000);
	free(file);
	read_module(data, count, CODE, CODE + CODE_SIZE);
}

static void unpack(const uint8_t *data, size_t size)
{
	struct symbols_source source = {.data = malloc(size + 1), .size = size};
	struct error err = {{0}};
	int status;

	check(source.data != NULL);
	memcpy(source.data, data, size);
	status = unpack_boot_image(&source, "file", &err);
	check((status == 0) == !err.text[0]);
	check(status == 0 || source.size == size);
	check(source.size <= size || source.size <= unpack_limit(size));
	symbols_source_close(&source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	switch (*data % 3) {
	case 0:
		read_orc(data + 1, size - 1);
		break;
	case 1:
		unpack(data + 1, size - 1);
		break;
	default:
		read_kernel(data + 1, size - 1, 0);
		break;
	}
	return 0;
}
